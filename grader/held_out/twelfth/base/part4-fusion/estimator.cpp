#include "estimator.h"

#include <algorithm>
#include <map>
#include <set>

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double size = mlp.bytes_per_element;
  const double narrow = size * mlp.tokens * mlp.hidden;
  const double wide = size * mlp.tokens * mlp.intermediate;
  const double weight = size * mlp.hidden * mlp.intermediate;
  const double elements = static_cast<double>(mlp.tokens) * mlp.intermediate;
  const double product = 2.0 * elements * mlp.hidden;
  std::vector<int> kernels;
  switch (fusion) {
    case Fusion::none: kernels = {0, 1, 2, 3, 4}; break;
    case Fusion::pointwise: kernels = {0, 1, 2, 2, 3}; break;
    case Fusion::gate_and_up: kernels = {0, 0, 0, 0, 1}; break;
    case Fusion::whole: kernels = {0, 0, 0, 0, 0}; break;
  }

  Program program;
  const auto array = [&](const char* name, ArrayRole role, double bytes) {
    program.arrays.push_back({name, role, bytes});
    return program.arrays.size() - 1;
  };
  const auto x = array("x", ArrayRole::input, narrow);
  const auto gate = array("gate", ArrayRole::input, weight);
  const auto up = array("up", ArrayRole::input, weight);
  const auto down = array("down", ArrayRole::input, weight);
  const auto gated = array("x gate", ArrayRole::intermediate, wide);
  const auto upped = array("x up", ArrayRole::intermediate, wide);
  const auto active = array("activated", ArrayRole::intermediate, wide);
  const auto both = array("product", ArrayRole::intermediate, wide);
  const auto out = array("out", ArrayRole::output, narrow);

  const auto operation = [&](const char* name, double matmul, double pointwise,
                             std::vector<std::size_t> reads, std::size_t writes) {
    const int kernel = kernels[program.operations.size()];
    program.operations.push_back({name, matmul, pointwise, std::move(reads), writes, kernel});
  };
  operation("gate", product, 0, {x, gate}, gated);
  operation("up", product, 0, {x, up}, upped);
  operation("activation", 0, elements * mlp.activation_flops, {gated}, active);
  operation("multiply", 0, elements, {active, upped}, both);
  operation("down", product, 0, {both, down}, out);
  return program;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  std::map<std::size_t, int> maker;           // of each array that is made
  std::map<std::size_t, int> last_reader;
  for (const Operation& operation : program.operations) {
    maker[operation.writes] = operation.kernel;
    for (const std::size_t read : operation.reads) {
      int& last = last_reader[read];
      last = std::max(last, operation.kernel);
    }
  }
  std::vector<KernelWork> works;
  std::vector<std::set<std::size_t>> reads;
  for (const Operation& operation : program.operations) {
    const auto place = static_cast<std::size_t>(operation.kernel);
    if (works.size() <= place) {
      works.resize(place + 1);
      reads.resize(place + 1);
    }
    works[place].matmul_flops += operation.matmul_flops;
    works[place].pointwise_flops += operation.pointwise_flops;
    for (const std::size_t read : operation.reads) {
      const auto made = maker.find(read);
      const bool here = made != maker.end() && made->second == operation.kernel;
      if (!here) reads[place].insert(read);
    }
    const Array& result = program.arrays[operation.writes];
    const auto later = last_reader.find(operation.writes);
    const bool needed = later != last_reader.end() && later->second > operation.kernel;
    if (needed || result.role == ArrayRole::output) works[place].bytes += result.bytes;
  }
  for (std::size_t place = 0; place < works.size(); ++place) {
    for (const std::size_t read : reads[place]) {
      const auto made = maker.find(read);
      const bool just_made = made != maker.end() && made->second == static_cast<int>(place) - 1;
      const double bytes = program.arrays[read].bytes;
      if (just_made && l2_bytes > 0 && bytes <= l2_bytes) continue;
      works[place].bytes += bytes;
    }
  }
  return works;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate total;
  double now = 0;
  double issued = 0;
  for (const KernelWork& work : kernels_of(program, machine.l2_bytes)) {
    const double tensor = work.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = work.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = work.bytes / machine.bytes_per_second;
    const double longest = std::max({tensor, cuda, memory});
    issued += machine.seconds_per_launch;
    total.tensor_seconds += tensor;
    total.cuda_seconds += cuda;
    total.memory_seconds += memory;
    total.busy_seconds += longest;
    if (issued > now) {
      total.idle_seconds += issued - now;
      now = issued;
    }
    now += longest;
  }
  total.seconds = total.busy_seconds + total.idle_seconds;
  const std::vector<std::pair<double, Term>> terms = {{total.tensor_seconds, Term::tensor_cores},
                                                      {total.cuda_seconds, Term::cuda_cores},
                                                      {total.memory_seconds, Term::memory},
                                                      {total.idle_seconds, Term::launches}};
  double longest = -1;
  for (const auto& [seconds, term] : terms) {
    if (seconds > longest) {
      longest = seconds;
      total.bound = term;
    }
  }
  return total;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  Explanation result;
  const double left = std::max(measured_seconds - estimate.busy_seconds, 0.0);
  const double idle = std::min(estimate.idle_seconds, left);
  result.slowdown = measured_seconds / estimate.seconds;
  result.roofline_share = estimate.busy_seconds / measured_seconds;
  result.idle_share = idle / measured_seconds;
  result.rest_share = 1 - result.roofline_share - result.idle_share;
  result.efficiency = estimate.busy_seconds / (measured_seconds - idle);
  if (measured_seconds < estimate.busy_seconds) {
    result.finding = Finding::faster_than_possible;
  } else if (1 - result.roofline_share <= 0.1) {
    result.finding = Finding::as_estimated;
  } else if (result.idle_share >= result.rest_share) {
    result.finding = Finding::launches;
  } else {
    result.finding = Finding::inefficiency;
  }
  return result;
}
