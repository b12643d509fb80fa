#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/gelu.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/recorded_calls.h"
#include "labs/oracle_support/refusal.h"
#include "labs/oracle_support/tensors.h"
#include "labs/part4-fusion/oracle/gated_mlp.h"

namespace rooflab {
namespace {

constexpr ElementType kType = ElementType::bfloat16;
constexpr double kElement = 2;  // bytes
constexpr double kMicroseconds = 1e6;

struct MlpSizes {
  std::int64_t tokens, hidden, intermediate;
};

MlpSizes mlp_sizes_of(const Values& parameters) {
  return {integer(parameters, "tokens"), integer(parameters, "hidden"),
          integer(parameters, "intermediate")};
}

double relu(double x) { return x > 0 ? x : 0; }

// --- The MLP -------------------------------------------------------------------------------------

Problem random_mlp(const Values& parameters, std::uint64_t seed) {
  Problem problem{parameters, {}};
  const MlpSizes sizes = mlp_sizes_of(parameters);
  Random random(seed);
  const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns, double size) {
    problem.tensors.push_back(
        random_tensor(name, kType, Role::input, {rows, columns}, size, random));
  };
  const double unit = 1 / std::sqrt(static_cast<double>(sizes.hidden));
  add("x", sizes.tokens, sizes.hidden, 1);
  add("gate_proj", sizes.intermediate, sizes.hidden, unit);
  add("up_proj", sizes.intermediate, sizes.hidden, unit);
  add("down_proj", sizes.hidden, sizes.intermediate,
      1 / std::sqrt(static_cast<double>(sizes.intermediate)));
  problem.tensors.push_back(output("out", kType, {sizes.tokens, sizes.hidden}));
  return problem;
}

Expected out_of(const Problem& problem, GatedMlpRule rule) {
  const MlpSizes sizes = mlp_sizes_of(problem.parameters);
  rule.gate_and_up_are_stored = true;
  return stored("out", kType,
                gated_mlp({sizes.tokens, sizes.hidden, sizes.intermediate, kType,
                           widened(problem, "x"), widened(problem, "gate_proj"),
                           widened(problem, "up_proj"), widened(problem, "down_proj")},
                          rule));
}

GatedMlpRule with_product(double (*product)(double gate, double up)) {
  return {.product = product};
}

Expected right_out(const Problem& problem) {
  return out_of(problem, with_product([](double gate, double up) { return relu(gate) * up; }));
}

std::vector<KnownMistake> mistakes_of_mlp(const Problem& problem) {
  Mistakes mistakes({right_out(problem)});
  constexpr const char* kProduct = "product = relu(gate) * up";
  const auto add = [&](Code code, const char* cause, double (*product)(double, double)) {
    mistakes.add(code, cause, kProduct, {out_of(problem, with_product(product))});
  };
  add("RL0470", "ReLU is taken of up instead of gate",
      [](double gate, double up) { return gate * relu(up); });
  add("RL0470", "ReLU is taken of the product of gate and up",
      [](double gate, double up) { return relu(gate * up); });
  add("RL0470", "up is left out", [](double gate, double /*up*/) { return relu(gate); });
  add("RL0498", "the product of gate and up is stored without ReLU",
      [](double gate, double up) { return gate * up; });
  add("RL0498", "the activation is GELU, and this MLP has ReLU",
      [](double gate, double up) { return gelu_tanh(gate) * up; });
  return mistakes.take();
}

// --- Mean and deviation --------------------------------------------------------------------------

/// @throws Refusal
void judge_spread(const Values& parameters, const CallEvidence& evidence) {
  constexpr double kArithmetic = 1e-9;
  std::vector<double> numbers;
  std::istringstream words(text(parameters, "numbers"));
  for (double number; words >> number;) numbers.push_back(number);
  // Around the first number, so that no large sums cancel.
  const auto count = static_cast<double>(numbers.size());
  double sum = 0, squares = 0;
  for (const double number : numbers) {
    sum += number - numbers.front();
    squares += (number - numbers.front()) * (number - numbers.front());
  }
  const double mean = numbers.front() + sum / count;
  const double distances = std::max(0.0, squares - sum * sum / count);
  const double deviation = count > 1 ? std::sqrt(distances / (count - 1)) : 0;
  const auto check = [&](const char* name, double right, const std::vector<Slip>& slips) {
    const double got = result(evidence, name, std::nan(""));
    if (std::abs(got - right) <= kArithmetic * std::max(std::abs(right), mean)) return;
    const Evidence told{message(": ", name, " should be ", right, ", not ", got)};
    if (auto known = explained(got, kArithmetic, slips, told)) throw Refusal(*std::move(known));
    throw Refusal({"RL0407", Sentence("a spread is wrong") + told,
                   "run_mlp.h says what the mean and the deviation are"});
  };
  check("mean", mean,
        {{mean * count, "RL0439", "the numbers are added up and not divided",
          "divide their sum by how many they are"}});
  check("deviation", deviation,
        {{std::sqrt(distances / count), "RL0439", "the squares are divided by the count",
          "of a sample, divide by one less: the mean is taken from the same numbers"},
         {distances / std::max(1.0, count - 1), "RL0439", "the deviation is the variance",
          "take the root: a deviation has the unit of the numbers"}});
}

// --- The run -------------------------------------------------------------------------------------

struct Estimates {
  double whole_us = 0, four_kernels_us = 0;
};

/// The MLP at the roofs that the adapter named.
Estimates estimates_of(const MlpSizes& sizes, const CallEvidence& evidence) {
  constexpr double kTensorFlops = 16;  // for each of CUDA cores: guest/run_mlp.cpp, too
  const PeakRates peaks = told_peaks(evidence);
  const auto busy_us = [&](double matmul, double pointwise, double elements) {
    return kMicroseconds * std::max({matmul / (kTensorFlops * peaks.flops_per_second),
                                     pointwise / peaks.flops_per_second,
                                     kElement * elements / peaks.bytes_per_second});
  };
  const auto tokens = static_cast<double>(sizes.tokens), hidden = static_cast<double>(sizes.hidden),
             intermediate = static_cast<double>(sizes.intermediate);
  const double outer = tokens * hidden, inner = tokens * intermediate,
               weight = hidden * intermediate;
  const double matmul = 2 * tokens * weight;
  const double product = busy_us(matmul, 0, outer + weight + inner);
  return {.whole_us = busy_us(3 * matmul, 2 * inner, 3 * weight + 2 * outer),
          .four_kernels_us = 3 * product + busy_us(0, 2 * inner, 3 * inner)};
}

/// The adapter's own call, as the device saw it.
RecordedCall marked_call(const simgpu::Activity& activity) {
  constexpr std::uint64_t kFirstMarkerBytes = 101;  // guest/run_mlp.cpp knows them, too
  return call_behind_marker(activity, kFirstMarkerBytes);
}

class RunJudge {
 public:
  RunJudge(const MlpSizes& sizes, const CallEvidence& evidence)
      : sizes_(sizes), evidence_(evidence) {}

  /// @throws Refusal
  void judge() const {
    check_estimates();
    if (evidence_.keeps_records) check_times(marked_call(evidence_.activity));
    check_sum();
  }

 private:
  double got(const char* name) const { return result(evidence_, name, std::nan("")); }

  void check_estimates() const {
    constexpr double kArithmetic = 1e-6;
    const Estimates right = estimates_of(sizes_, evidence_);
    const auto check = [&](const char* name, double expected) {
      if (std::abs(got(name) - expected) <= kArithmetic * right.whole_us) return;
      throw Refusal(
          {"RL0515",
           Sentence("an estimate is not that of the MLP which runs") +
               Evidence{message(": ", name, " should be ", expected, " us, not ", got(name))},
           "call estimate(gated_mlp(...), machine) with 2 bytes for each element, one "
           "FLOP for each activation and the fusion that run_mlp.h names, and take its "
           "busy_seconds"});
    };
    check("estimate_us", right.whole_us);
    check("intermediates_us", right.four_kernels_us - right.whole_us);
  }

  /// The mean of calls that follow one another lies between the time of a call's kernels and the
  /// time from before its first to the end of its last, give or take the events around them.
  void check_times(const RecordedCall& seen) const {
    constexpr double kClock = 0.02, kSlackUs = 4, kMicrosecondsPerMillisecond = 1e3;
    const double busy_us = kMicrosecondsPerMillisecond * seen.busy_ms;
    const double span_us = kMicrosecondsPerMillisecond * seen.span_ms;
    constexpr int kKernels = 4, kRuns = 7;
    if (seen.kernels < kKernels) {
      throw Refusal({"RL0537",
                     message("a call of relu_mlp launches ", seen.kernels, " kernels, not four"),
                     "finish relu_mlp before you time it"});
    }
    const auto timed = std::ranges::count_if(
        evidence_.activity.calls,
        [](const simgpu::ApiRecord& call) { return call.name == "cudaEventElapsedTime"; });
    if (timed < kRuns) {
      throw Refusal({"RL0421", message("there are ", timed, " timed runs, not ", kRuns),
                     "call rooflab::time_ms once for each run, and spread_of with all of them"});
    }
    const auto check = [&](const char* what, double value, double least, double most) {
      if (value >= least * (1 - kClock) - kSlackUs && value <= most * (1 + kClock) + kSlackUs) {
        return;
      }
      throw Refusal(
          {"RL0537",
           Sentence(what) +
               Evidence{message(": ", value, " us, where the device was busy ", busy_us,
                                " us for a call and needed ", span_us, " us in all")},
           "times are those of one call, in microseconds: time_ms gives milliseconds, and "
           "a profile the events of all recorded iterations together"});
    };
    check("the mean is not the time of a call", got("mean_us"), busy_us, span_us);
    check("the mean less idle_us is not what the kernels of a call take",
          got("mean_us") - got("idle_us"), busy_us, busy_us);
    constexpr double kMostSpread = 0.1;  // of the mean: runs of a model hardly differ
    if (!(got("deviation_us") >= 0 && got("deviation_us") <= kMostSpread * got("mean_us"))) {
      throw Refusal({"RL0537",
                     Sentence("the deviation is not that of the runs") +
                         Evidence{message(": ", got("deviation_us"), " us")},
                     "deviation_us is the deviation of the 7 runs' means, in microseconds: a call "
                     "to warm up belongs before each"});
    }
  }

  void check_sum() const {
    constexpr double kArithmetic = 1e-6;
    const double sum =
        got("idle_us") + got("estimate_us") + got("intermediates_us") + got("rest_us");
    if (std::abs(sum - got("mean_us")) <= kArithmetic * std::abs(got("mean_us"))) return;
    throw Refusal({"RL0438",
                   Sentence("the four parts do not add up to the mean") +
                       Evidence{message(": they are ", sum, " us together, and the mean is ",
                                        got("mean_us"), " us")},
                   "idle is the mean less the kernels; rest is the kernels less both estimates"});
  }

  MlpSizes sizes_;
  const CallEvidence& evidence_;
};

/// The functions of run_mlp.h. Parameters: function; numbers, as text, for spread_of; for the
/// others the sizes.
class RunMlpOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    if (text(parameters, "function") != "relu_mlp") return {parameters, {}};
    return random_mlp(parameters, seed);
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.tensors.empty()) return {};
    return {right_out(problem)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.tensors.empty()) return {};
    return mistakes_of_mlp(problem);
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    const std::string& function = text(problem.parameters, "function");
    return refusals_of([&] {
      if (function == "spread_of") return judge_spread(problem.parameters, evidence);
      if (function == "run_mlp")
        return RunJudge(mlp_sizes_of(problem.parameters), evidence).judge();
    });
  }

  /// The parts of a right report as a table.
  std::map<std::string, std::string> artifacts(const Problem& problem,
                                               const CallEvidence& evidence) const override {
    if (text(problem.parameters, "function") != "run_mlp") return {};
    std::string table = "part,us\n";
    for (const char* part : {"mean", "deviation", "estimate", "intermediates", "idle", "rest"}) {
      const double us = result(evidence, std::string(part) + "_us", std::nan(""));
      table += message(part, ",", us, "\n");
    }
    return {{"run_mlp.csv", table}};
  }
};

ROOFLAB_ORACLE("run_mlp", RunMlpOracle)

}  // namespace
}  // namespace rooflab
