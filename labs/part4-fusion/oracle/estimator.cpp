#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/wrong_results.h"
#include "labs/part4-fusion/oracle/program.h"

namespace rooflab {
namespace {

using Complaints = std::vector<Complaint>;

/// Arithmetic on given numbers, in any order.
constexpr double kArithmetic = 1e-9;

Values values_of(const NamedNumbers& numbers) { return {numbers.begin(), numbers.end()}; }

/// The complaint about results of which at least one is wrong, and that no slip explains.
Complaint unexplained(const Values& got, const Values& right, double scale) {
  const std::string wrong = first_difference(got, right, scale).value_or("");
  return {"RL0407",
          Sentence::of_all_cases(wrong + " is wrong") +
              Evidence{message(": it should be ", number_of(right, wrong), ", not ",
                               number_of(got, wrong))},
          "estimator.h says what each number is; compute this case by hand"};
}

MlpSizes mlp_sizes(const Values& parameters) {
  return {integer(parameters, "tokens"), integer(parameters, "hidden"),
          integer(parameters, "intermediate"), integer(parameters, "bytes_per_element"),
          integer(parameters, "activation_flops", 0)};
}

MlpFusion mlp_fusion(const Values& parameters) {
  const std::string& name = text(parameters, "fusion");
  if (name == "none") return MlpFusion::none;
  if (name == "pointwise") return MlpFusion::pointwise;
  if (name == "gate_and_up") return MlpFusion::gate_and_up;
  if (name == "whole") return MlpFusion::whole;
  throw std::invalid_argument("no `fusion` is called " + name);
}

EstimatedMachine machine(const Values& parameters) {
  return {real(parameters, "tensor_flops_per_second"), real(parameters, "cuda_flops_per_second"),
          real(parameters, "bytes_per_second"), real(parameters, "l2_bytes"),
          real(parameters, "seconds_per_launch")};
}

// --- Kernels and their traffic -------------------------------------------------------------------

NamedNumbers numbers_of(const std::vector<KernelTotals>& kernels) {
  NamedNumbers numbers = {{"kernels", static_cast<double>(kernels.size())}};
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string of = " of kernel " + std::to_string(k);
    numbers["matmul_flops" + of] = kernels[k].matmul_flops;
    numbers["pointwise_flops" + of] = kernels[k].pointwise_flops;
    numbers["bytes" + of] = kernels[k].bytes;
  }
  return numbers;
}

/// A way to count traffic that is not the right one.
struct TrafficSlip {
  std::function<void(TrafficRule&)> change;
  const char* cause;
  const char* advice;
};

const std::vector<TrafficSlip>& traffic_slips() {
  static const std::vector<TrafficSlip> slips = {
      {[](TrafficRule& rule) { rule.each_operation_reads = true; },
       "an array that several operations of one kernel read is counted for each of them",
       "a kernel loads an array once and uses it as often as it likes: count distinct arrays"},
      {[](TrafficRule& rule) { rule.each_use_reads = true; },
       "an array that several operations of one kernel read is counted for each of them",
       "a kernel loads an array once and uses it as often as it likes: count distinct arrays"},
      {[](TrafficRule& rule) { rule.reads_own_arrays = true; },
       "a kernel reads back what it has made itself",
       "what a kernel makes it has in registers: reads are of arrays that others have made"},
      {[](TrafficRule& rule) { rule.writes_intermediates = true; },
       "intermediates that no later kernel reads are written",
       "an intermediate that is used up within its kernel never leaves the chip"},
      {[](TrafficRule& rule) {
         rule.reads_own_arrays = true;
         rule.writes_intermediates = true;
       },
       "operations are counted as if each were a kernel of its own",
       "operations with the same `kernel` are fused: what goes from one to the next stays on chip"},
      {[](TrafficRule& rule) { rule.skips_intermediates = true; },
       "intermediates that a later kernel reads are not written",
       "between two kernels there is only memory: the first writes, the second reads"},
      {[](TrafficRule& rule) {
         rule.skips_intermediates = true;
         rule.skips_reads_of_intermediates = true;
       },
       "intermediates between two kernels cost nothing",
       "between two kernels there is only memory: the first writes, the second reads"},
      {[](TrafficRule& rule) { rule.skips_reads_of_intermediates = true; },
       "intermediates are written and not read again",
       "between two kernels there is only memory: the first writes, the second reads"},
      {[](TrafficRule& rule) { rule.skips_outputs = true; }, "outputs are not written",
       "count what a kernel writes, too"},
      {[](TrafficRule& rule) { rule.l2_bytes = 0; }, "the L2 is left out",
       "what the kernel right before has written and what fits need not come from DRAM"},
      {[](TrafficRule& rule) { rule.l2_at_any_distance = true; },
       "what any earlier kernel has written is taken to be in the L2",
       "only what the kernel right before has written counts: others came in between"},
      {[](TrafficRule& rule) { rule.l2_saves_writes = true; },
       "what stays in the L2 is not written to DRAM",
       "sooner or later the L2 writes it back: only the read is saved"},
      {[](TrafficRule& rule) { rule.l2_ignores_size = true; },
       "arrays that are larger than the L2 are taken to be in it",
       "compare its bytes with l2_bytes"},
  };
  return slips;
}

/// What the traffic of each kernel is the sum of.
std::vector<Term> traffic_terms(const std::vector<KernelTotals>& kernels) {
  std::vector<Term> terms;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string bytes = "bytes of kernel " + std::to_string(k);
    const auto add = [&](const char* what, const std::map<std::string, double>& arrays) {
      for (const auto& [array, count] : arrays) {
        terms.push_back({message("what kernel ", k, " ", what, " ", array), {{bytes, count}}});
      }
    };
    add("reads of", kernels[k].read);
    add("writes of", kernels[k].written);
  }
  return terms;
}

Complaints judge_kernels(const Values& parameters, const Values& results) {
  const EstimatedProgram program = parse_program(text(parameters, "program"));
  TrafficRule rule;
  rule.l2_bytes = real(parameters, "l2_bytes");
  const Values right = values_of(numbers_of(totals_of(program, rule)));
  if (!first_difference(results, right)) return {};
  if (number_of(results, "kernels") != number_of(right, "kernels")) {
    return {{"RL0407",
             "the number of kernels is wrong" +
                 Evidence{message(": it should be ", number_of(right, "kernels"), ", not ",
                                  number_of(results, "kernels"))},
             "operations with the same `kernel` are one kernel"}};
  }
  std::vector<ResultSlip> slips;
  for (const TrafficSlip& slip : traffic_slips()) {
    TrafficRule other = rule;
    slip.change(other);
    slips.push_back({values_of(numbers_of(totals_of(program, other))), "RL0515",
                     Sentence::of_all_cases(slip.cause), slip.advice});
  }
  if (const auto by_slips = explained_by_slips(results, right, slips)) return {*by_slips};
  const auto by_terms = explained_by_terms(results, right, traffic_terms(totals_of(program, rule)));
  return {by_terms.value_or(unexplained(results, right, 0))};
}

// --- The gated MLP as a program ------------------------------------------------------------------

double bytes_of_role(const EstimatedProgram& program, const std::string& role) {
  double sum = 0;
  for (const ProgramArray& array : program.arrays) sum += array.role == role ? array.bytes : 0;
  return sum;
}

std::optional<Complaint> judge_mlp_kernels(const EstimatedProgram& right,
                                           const EstimatedProgram& got) {
  const auto wrong = [&](const std::string& what, double expected, double found) {
    return Complaint{"RL0515", message(what, " should be ", expected, ", not ", found),
                     "draw the five operations and the arrays between them, then a line around "
                     "those that share a kernel"};
  };
  const auto expected = totals_of(right, {});
  const auto found = totals_of(got, {});
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string of = " of kernel " + std::to_string(k);
    const auto differs = [](double a, double b) { return !is_close(b, a, kArithmetic); };
    if (differs(expected[k].matmul_flops, found[k].matmul_flops)) {
      if (is_close(found[k].matmul_flops * 2, expected[k].matmul_flops, kArithmetic)) {
        return Complaint{
            "RL0406",
            "matrix products are counted in MACs" +
                Evidence{message("; matmul_flops", of, " should be ", expected[k].matmul_flops,
                                 ", not ", found[k].matmul_flops)},
            "a multiply-accumulate step is two floating-point operations"};
      }
      return wrong("matmul_flops" + of, expected[k].matmul_flops, found[k].matmul_flops);
    }
    if (differs(expected[k].pointwise_flops, found[k].pointwise_flops)) {
      return wrong("pointwise_flops" + of, expected[k].pointwise_flops, found[k].pointwise_flops);
    }
    if (differs(expected[k].bytes, found[k].bytes)) {
      return wrong("the traffic" + of, expected[k].bytes, found[k].bytes);
    }
  }
  return std::nullopt;
}

Complaints judge_mlp(const Values& parameters, const CallEvidence& evidence) {
  constexpr std::size_t kMostLetters = 4096;  // of five operations, and a good deal more
  const EstimatedProgram right = mlp_program(mlp_sizes(parameters), mlp_fusion(parameters));
  EstimatedProgram got;
  try {
    got = parse_program(result(evidence, "program", std::string()).substr(0, kMostLetters));
  } catch (const std::invalid_argument& error) {
    return {
        {"RL0407", "this is no program" + Evidence{message("; ", error.what())},
         "`reads` and `writes` are places in `arrays`, and kernels are numbered 0, 1, 2, ... in "
         "order"}};
  }
  const auto counts = [](const char* what, std::size_t expected, std::size_t found) {
    return Complaint{"RL0407",
                     Sentence::of_all_cases(message("the program has the wrong ", what)) +
                         Evidence{message(": it should have ", expected, " and has ", found)},
                     "the product with gate, the product with up, the activation, the "
                     "multiplication, the product with down"};
  };
  if (got.operations.size() != right.operations.size()) {
    return {counts("operations", right.operations.size(), got.operations.size())};
  }
  if (got.kernels() != right.kernels()) {
    return {counts("kernels", static_cast<std::size_t>(right.kernels()),
                   static_cast<std::size_t>(got.kernels()))};
  }
  for (const char* role : {"input", "intermediate", "output"}) {
    const double expected = bytes_of_role(right, role);
    const double found = bytes_of_role(got, role);
    if (is_close(found, expected, kArithmetic)) continue;
    return {
        {"RL0407",
         Sentence::of_all_cases(message("arrays of the role ", role, " have the wrong size")) +
             Evidence{message(": in all they should have ", expected, " bytes and have ", found)},
         "x and out are (tokens, hidden), the weights (hidden, intermediate), what lies between "
         "is (tokens, intermediate); each element has bytes_per_element bytes"}};
  }
  const auto complaint = judge_mlp_kernels(right, got);
  return complaint ? Complaints{*complaint} : Complaints{};
}

// --- Times ---------------------------------------------------------------------------------------

NamedNumbers numbers_of(const EstimatedTimes& times) {
  return {{"tensor_seconds", times.tensor}, {"cuda_seconds", times.cuda},
          {"memory_seconds", times.memory}, {"busy_seconds", times.busy},
          {"idle_seconds", times.idle},     {"seconds", times.seconds()}};
}

/// A way to put times together that is not the right one.
struct TimeSlip {
  std::function<void(TimeRule&)> change;
  Code code;
  const char* cause;
  const char* advice;
};

const std::vector<TimeSlip>& time_slips() {
  constexpr const char* kOverlap =
      "within a kernel, tensor cores, CUDA cores and memory work at the same time: the longest of "
      "the three counts";
  constexpr const char* kQueue =
      "the host issues launch k at (k + 1) * seconds_per_launch and does not wait: the GPU is idle "
      "only where a kernel has ended before the next is issued";
  static const std::vector<TimeSlip> slips = {
      {[](TimeRule& rule) { rule.adds_terms = true; }, "RL0516",
       "the terms of a kernel are added up", kOverlap},
      {[](TimeRule& rule) { rule.one_longest_term = true; }, "RL0516",
       "the longest term is taken of the whole program, not of each kernel",
       "one kernel does not overlap with the next: take the longest term kernel by kernel, then "
       "add the kernels up"},
      {[](TimeRule& rule) { rule.adds_launches = true; }, "RL0517",
       "the time of every launch is added, although the GPU is busy meanwhile", kQueue},
      {[](TimeRule& rule) { rule.first_launch_free = true; }, "RL0517",
       "the first launch takes no time", kQueue},
      {[](TimeRule& rule) { rule.tensor_on_cuda_cores = true; }, "RL0516",
       "matrix products are counted on the CUDA cores",
       "matrix products run on the tensor cores, whose peak is tensor_flops_per_second"},
  };
  return slips;
}

/// What each known slip makes of the times.
std::vector<ResultSlip> slips_of_times(const EstimatedProgram& program,
                                       const EstimatedMachine& gpu) {
  std::vector<ResultSlip> slips;
  const auto add = [&](const TimeRule& rule, Code code, const char* cause, const char* advice) {
    slips.push_back({values_of(numbers_of(times_of(program, gpu, rule))), code,
                     Sentence::of_all_cases(cause), advice});
  };
  for (const TimeSlip& slip : time_slips()) {
    TimeRule rule;
    slip.change(rule);
    add(rule, slip.code, slip.cause, slip.advice);
  }
  for (const TrafficSlip& slip : traffic_slips()) {
    TimeRule rule;
    slip.change(rule.traffic);
    add(rule, "RL0515", slip.cause, slip.advice);
  }
  for (const auto& [factor, unit] : {std::pair{1e3, "milli"}, std::pair{1e6, "micro"}}) {
    NamedNumbers scaled = numbers_of(times_of(program, gpu));
    for (auto& [name, value] : scaled) value *= factor;
    slips.push_back({values_of(scaled), "RL0406",
                     Sentence::of_all_cases(message("the times are in ", unit, "seconds")),
                     "times are in seconds, and rates are per second"});
  }
  return slips;
}

Complaints judge_times(const EstimatedProgram& program, const Values& parameters,
                       const CallEvidence& evidence) {
  const EstimatedMachine gpu = machine(parameters);
  const EstimatedTimes right = times_of(program, gpu);
  const Values numbers = values_of(numbers_of(right));
  if (first_difference(evidence.results, numbers, right.seconds())) {
    const auto cause = explained_by_slips(evidence.results, numbers, slips_of_times(program, gpu),
                                          right.seconds());
    return {cause.value_or(unexplained(evidence.results, numbers, right.seconds()))};
  }
  const std::string bound = result(evidence, "bound", std::string());
  if (bound == right.bound()) return {};
  return {{"RL0407",
           "`bound` is not the program's longest term" +
               Evidence{message(": that is ", right.bound(), ", and it says ", bound)},
           "compare tensor, CUDA, memory and idle seconds; of equal ones, the first in the order "
           "of Term"}};
}

// --- Measured against estimated ------------------------------------------------------------------

/// Where a measured time went, were so much of it idle.
Values shares_of(const Values& parameters, double idle_seconds) {
  const double busy = real(parameters, "busy_seconds");
  const double measured = real(parameters, "measured_seconds");
  return {{"slowdown", measured / (busy + real(parameters, "idle_seconds"))},
          {"roofline_share", busy / measured},
          {"idle_share", idle_seconds / measured},
          {"rest_share", (measured - busy - idle_seconds) / measured},
          {"efficiency", busy / (measured - idle_seconds)}};
}

/// No more than the measured time leaves.
double idle_seconds(const Values& parameters) {
  const double left = real(parameters, "measured_seconds") - real(parameters, "busy_seconds");
  return std::min(real(parameters, "idle_seconds"), std::max(0.0, left));
}

Complaints judge_explanation(const Values& parameters, const CallEvidence& evidence) {
  const double busy = real(parameters, "busy_seconds");
  const double planned_idle = real(parameters, "idle_seconds");
  const double measured = real(parameters, "measured_seconds");
  const double idle = idle_seconds(parameters);
  const auto shares = [&](double idle_seconds) { return shares_of(parameters, idle_seconds); };
  const Values right = shares(idle);
  constexpr double kWhole = 1;  // of which they are shares
  if (first_difference(evidence.results, right, kWhole)) {
    Values upside_down = right;
    upside_down["slowdown"] = 1 / number_of(right, "slowdown");
    Values percent = right;
    for (const char* share : {"roofline_share", "idle_share", "rest_share"}) {
      percent[share] = 100 * number_of(right, share);
    }
    Values with_idle = right;
    with_idle["efficiency"] = busy / measured;
    const auto cause = explained_by_slips(
        evidence.results, right,
        {{shares(0), "RL0517", "launches explain nothing of the measured time",
          "idle_seconds is what the estimate says of launches: take its share first, the rest is "
          "what the kernels themselves lose"},
         {shares(planned_idle), "RL0517", "more time is idle than the measurement leaves room for",
          "at least busy_seconds of the measured time were spent in kernels: clamp the idle time"},
         {upside_down, "RL0407", "the slowdown is upside down", "measured over estimated"},
         {percent, "RL0406", "the shares are in percent", "shares of 1, whose sum is 1"},
         {with_idle, "RL0517", "the efficiency of the kernels counts the time between them",
          "take the idle time off the measured time first"}},
        kWhole);
    return {cause.value_or(unexplained(evidence.results, right, kWhole))};
  }
  const double rest = measured - busy - idle;
  constexpr double kMostUnexplained = 0.1;
  const std::string finding = measured < busy                              ? "faster_than_possible"
                              : idle + rest <= kMostUnexplained * measured ? "as_estimated"
                              : idle >= rest                               ? "launches"
                                                                           : "inefficiency";
  const std::string got = result(evidence, "finding", std::string());
  if (got == finding) return {};
  return {{"RL0407",
           "the finding is another" +
               Evidence{message(": it should be ", finding, ", not ", got,
                                "; of the measured time ", busy / measured, " is roofline, ",
                                idle / measured, " idle, ", rest / measured, " the rest")},
           "estimator.h lists the findings in the order in which to ask for them"}};
}

/// The functions of estimator.h. Parameters: function, and what it takes.
class EstimatorOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const Values& parameters = problem.parameters;
    const std::string& function = text(parameters, "function");
    const auto times = [&](const EstimatedProgram& program) {
      return values_of(numbers_of(times_of(program, machine(parameters))));
    };
    if (function == "estimate") return times(parse_program(text(parameters, "program")));
    if (function == "estimate_mlp") {
      return times(mlp_program(mlp_sizes(parameters), mlp_fusion(parameters)));
    }
    if (function == "explain") return shares_of(parameters, idle_seconds(parameters));
    return {};
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    const Values& parameters = problem.parameters;
    const std::string& function = text(parameters, "function");
    if (function == "gated_mlp") return judge_mlp(parameters, evidence);
    if (function == "kernels_of") return judge_kernels(parameters, evidence.results);
    if (function == "estimate") {
      return judge_times(parse_program(text(parameters, "program")), parameters, evidence);
    }
    if (function == "estimate_mlp") {
      return judge_times(mlp_program(mlp_sizes(parameters), mlp_fusion(parameters)), parameters,
                         evidence);
    }
    if (function == "explain") return judge_explanation(parameters, evidence);
    throw std::invalid_argument("no `function` of estimator.h is called " + function);
  }
};

ROOFLAB_ORACLE("estimator", EstimatorOracle)

}  // namespace
}  // namespace rooflab
