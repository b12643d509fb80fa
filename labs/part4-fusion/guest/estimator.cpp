#include "estimator.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "grader/contract/guest_call.h"

namespace {

using rooflab::GuestCall;

ArrayRole role_of(const std::string& name) {
  if (name == "input") return ArrayRole::input;
  if (name == "intermediate") return ArrayRole::intermediate;
  if (name == "output") return ArrayRole::output;
  throw std::invalid_argument("no array is called " + name);
}

/// A program as part.toml writes it, one line for each array and operation:
///
///     array <role> <name> <bytes>
///     operation <kernel> <name> <matmul FLOPs> <pointwise FLOPs> <written array> <read arrays …>
Program program_from(const std::string& text) {
  Program program;
  std::map<std::string, std::size_t> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind)) continue;
    if (kind == "array") {
      Array array;
      std::string role;
      words >> role >> array.name >> array.bytes;
      array.role = role_of(role);
      places[array.name] = program.arrays.size();
      program.arrays.push_back(array);
    } else {
      Operation operation;
      std::string array;
      words >> operation.kernel >> operation.name >> operation.matmul_flops >>
          operation.pointwise_flops >> array;
      operation.writes = places.at(array);
      while (words >> array) operation.reads.push_back(places.at(array));
      program.operations.push_back(operation);
    }
  }
  return program;
}

/// The same text for what the student made: names become numbers, since they are not compared.
std::string text_of(const Program& program) {
  constexpr std::size_t kMost = 64;  // more than any case has: what is too much is wrong anyhow
  constexpr int kDigits = 17;
  std::ostringstream out;
  out.precision(kDigits);
  for (std::size_t i = 0; i < std::min(kMost, program.arrays.size()); ++i) {
    const Array& array = program.arrays[i];
    const char* role = array.role == ArrayRole::input          ? "input"
                       : array.role == ArrayRole::intermediate ? "intermediate"
                                                               : "output";
    out << "array " << role << " a" << i << ' ' << array.bytes << '\n';
  }
  for (std::size_t i = 0; i < std::min(kMost, program.operations.size()); ++i) {
    const Operation& operation = program.operations[i];
    out << "operation " << operation.kernel << " o" << i << ' ' << operation.matmul_flops << ' '
        << operation.pointwise_flops << " a" << operation.writes;
    for (std::size_t j = 0; j < std::min(kMost, operation.reads.size()); ++j) {
      out << " a" << operation.reads[j];
    }
    out << '\n';
  }
  return out.str();
}

Fusion fusion_of(const std::string& name) {
  if (name == "none") return Fusion::none;
  if (name == "pointwise") return Fusion::pointwise;
  if (name == "gate_and_up") return Fusion::gate_and_up;
  if (name == "whole") return Fusion::whole;
  throw std::invalid_argument("no fusion is called " + name);
}

Program mlp_of(const GuestCall& call) {
  return gated_mlp({.tokens = call.integer("tokens"),
                    .hidden = call.integer("hidden"),
                    .intermediate = call.integer("intermediate"),
                    .bytes_per_element = call.integer("bytes_per_element"),
                    .activation_flops = call.integer("activation_flops")},
                   fusion_of(call.text("fusion")));
}

Machine machine_of(const GuestCall& call) {
  return {.tensor_flops_per_second = call.real("tensor_flops_per_second"),
          .cuda_flops_per_second = call.real("cuda_flops_per_second"),
          .bytes_per_second = call.real("bytes_per_second"),
          .l2_bytes = call.real("l2_bytes"),
          .seconds_per_launch = call.real("seconds_per_launch")};
}

void pass_on_kernels(GuestCall& call) {
  constexpr std::size_t kMost = 64;
  const auto kernels = kernels_of(program_from(call.text("program")), call.real("l2_bytes"));
  call.result("kernels", static_cast<std::int64_t>(kernels.size()));
  for (std::size_t k = 0; k < std::min(kMost, kernels.size()); ++k) {
    const std::string of = " of kernel " + std::to_string(k);
    call.result("matmul_flops" + of, kernels[k].matmul_flops);
    call.result("pointwise_flops" + of, kernels[k].pointwise_flops);
    call.result("bytes" + of, kernels[k].bytes);
  }
}

std::string name_of(Term term) {
  switch (term) {
    case Term::tensor_cores:
      return "tensor_cores";
    case Term::cuda_cores:
      return "cuda_cores";
    case Term::memory:
      return "memory";
    case Term::launches:
      return "launches";
  }
  return "not a term";
}

void pass_on_estimate(GuestCall& call, const Program& program) {
  const Estimate got = estimate(program, machine_of(call));
  call.result("tensor_seconds", got.tensor_seconds);
  call.result("cuda_seconds", got.cuda_seconds);
  call.result("memory_seconds", got.memory_seconds);
  call.result("busy_seconds", got.busy_seconds);
  call.result("idle_seconds", got.idle_seconds);
  call.result("seconds", got.seconds);
  call.result("bound", name_of(got.bound));
}

std::string name_of(Finding finding) {
  switch (finding) {
    case Finding::faster_than_possible:
      return "faster_than_possible";
    case Finding::as_estimated:
      return "as_estimated";
    case Finding::launches:
      return "launches";
    case Finding::inefficiency:
      return "inefficiency";
  }
  return "not a finding";
}

void pass_on_explanation(GuestCall& call) {
  Estimate given;
  given.busy_seconds = call.real("busy_seconds");
  given.idle_seconds = call.real("idle_seconds");
  given.seconds = given.busy_seconds + given.idle_seconds;
  given.memory_seconds = given.busy_seconds;
  given.bound = given.idle_seconds > given.busy_seconds ? Term::launches : Term::memory;
  const Explanation got = explain(given, call.real("measured_seconds"));
  call.result("slowdown", got.slowdown);
  call.result("roofline_share", got.roofline_share);
  call.result("idle_share", got.idle_share);
  call.result("rest_share", got.rest_share);
  call.result("efficiency", got.efficiency);
  call.result("finding", name_of(got.finding));
}

}  // namespace

ROOFLAB_ENTRY(estimator) {
  const std::string& function = call.text("function");
  if (function == "gated_mlp") {
    call.result("program", text_of(mlp_of(call)));
  } else if (function == "kernels_of") {
    pass_on_kernels(call);
  } else if (function == "estimate") {
    pass_on_estimate(call, program_from(call.text("program")));
  } else if (function == "estimate_mlp") {
    pass_on_estimate(call, mlp_of(call));
  } else if (function == "explain") {
    pass_on_explanation(call);
  } else {
    throw std::invalid_argument("part.toml names no such function: " + function);
  }
}
