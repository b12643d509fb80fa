#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/selection.h"
#include "labs/part2-roofline/oracle/inputs.h"
#include "labs/part2-roofline/oracle/stream_functions.h"

namespace rooflab {
namespace {

using Limits = std::numeric_limits<float>;

/// What breaks functions that are right for most numbers. Triad rounds differently when it
/// overflows half-way, so `b` stays moderate.
constexpr std::array kSpecialA = {0.0F,
                                  -0.0F,
                                  1.0F,
                                  -1.0F,
                                  Limits::max(),
                                  -Limits::max(),
                                  Limits::min(),
                                  -Limits::min(),
                                  Limits::denorm_min(),
                                  -Limits::denorm_min(),
                                  88.7F,
                                  -88.7F,
                                  104.0F,
                                  -104.0F,
                                  3.14159274F,
                                  -355.0F,
                                  105615.0F,
                                  1e6F,
                                  -1e20F,
                                  16777216.0F,
                                  1e-30F,
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  std::bit_cast<float>(0x7FD12345U),   // NaNs that no arithmetic
                                  std::bit_cast<float>(0xFFCABCDEU)};  // makes: a copy has them
constexpr std::array kSpecialB = {0.0F, -0.0F, 1.0F, Limits::denorm_min(), 1e-30F, -1e10F, 0.1F};
constexpr std::array kSpecialPositive = {
    0.0F,        Limits::denorm_min(), Limits::min(), 1.0F,
    1.00000012F, 0.99999994F,          10.0F,         1000.0F,
    0.001F,      Limits::max(),        1e30F,         Limits::infinity()};
constexpr std::array kSpecialBase = {0.0F,
                                     -0.0F,
                                     Limits::denorm_min(),
                                     -Limits::denorm_min(),
                                     1.0F,
                                     -1.0F,
                                     1.00000012F,
                                     -0.99999994F,
                                     10.0F,
                                     -1000.0F,
                                     -0.001F,
                                     Limits::max(),
                                     -1e10F,
                                     Limits::infinity(),
                                     -Limits::infinity()};

/// The ten functions of stream.h. Parameters: function ("triad", or "all"), n, and `values`
/// ("special") where the inputs are not to be drawn. The scalars come from the seed, and so does
/// the exponent of pow where a case gives none. With a whole one negative numbers have powers.
class StreamOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n");
    Random random(seed);
    Problem problem{parameters, {}};
    problem.parameters["s"] = with_a_sign(uniform(random, 1.5, 3.5), random);
    const double exponent = with_a_sign(uniform(random, 1.25, 3.0), random);
    problem.parameters.try_emplace("exponent", exponent);
    problem.vast = is_vast(parameters);

    const std::vector<StreamFunction> functions = called(parameters);
    add_inputs(problem, functions, n, random);
    for (const StreamFunction& function : functions) {
      problem.tensors.push_back(vector_output(std::string(function.name), n));
    }
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const Inputs in(problem);
    std::vector<Expected> expected;
    for (const StreamFunction& function : called(problem.parameters)) {
      expected.push_back(in.outputs_of(function, function.value, function.tolerance));
    }
    return expected;
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    Work work;
    for (const StreamFunction& function : called(parameters)) {
      const int arrays =
          1 + function.reads_a + function.reads_b + function.reads_positive + function.reads_base;
      work.flops["fp32"] += function.flops * n;
      work.compulsory_bytes += sizeof(float) * arrays * n;
    }
    return work;
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Inputs in(problem);
    std::vector<KnownMistake> mistakes;
    for (const StreamFunction& function : called(problem.parameters)) {
      for (const StreamMistake& mistake : stream_mistakes()) {
        if (mistake.function != function.name) continue;
        const auto tolerance =
            mistake.tolerance != nullptr ? mistake.tolerance : function.tolerance;
        Expected outputs = in.outputs_of(function, mistake.value, tolerance);
        const Expected right = in.outputs_of(function, function.value, function.tolerance);
        if (!differs(outputs, right)) continue;
        mistakes.push_back({mistake.code, mistake.cause, mistake.advice, {std::move(outputs)}});
      }
    }
    return mistakes;
  }

 private:
  /// Whether any element of a mistake is beyond what it may be off: elsewhere, whatever is a little
  /// off would be taken for it.
  static bool differs(const Expected& mistaken, const Expected& right) {
    for (std::size_t i = 0; i < mistaken.value.size(); ++i) {
      const double allowed = mistaken.tolerance[i] + right.tolerance[i];
      if (!(std::abs(mistaken.value[i] - right.value[i]) <= allowed)) return true;
    }
    return false;
  }

  static double with_a_sign(double number, Random& random) {
    return random() >> 63 == 0 ? number : -number;
  }

  static std::vector<StreamFunction> called(const Values& parameters) {
    const std::string& name = text(parameters, "function");
    if (name != "all") return {stream_function(name)};
    return {stream_functions().begin(), stream_functions().end()};
  }

  static void add_inputs(Problem& problem, const std::vector<StreamFunction>& functions,
                         std::int64_t n, Random& random) {
    const bool special = problem.parameters.contains("values");
    const auto add = [&](const char* name, bool StreamFunction::*reads,
                         std::span<const float> specials, const std::function<double()>& draw) {
      if (std::ranges::none_of(functions, reads)) return;
      if (problem.vast) {
        constexpr ElementType kType = ElementType::float32;
        problem.tensors.push_back(
            repeated(drawn(name, kType, Role::input, {vast_period(kType)}, draw), n));
        return;
      }
      problem.tensors.push_back(special ? repeated_input(name, n, specials)
                                        : drawn_input(name, n, random, draw));
    };
    // A copy has the sign of a zero, too.
    constexpr std::uint64_t kNumbersForAZero = 256;
    add("a", &StreamFunction::reads_a, kSpecialA,
        [&] { return random() % kNumbersForAZero == 0 ? -0.0 : uniform(random, -30, 30); });
    add("b", &StreamFunction::reads_b, kSpecialB, [&] { return uniform(random, -30, 30); });
    add("positive", &StreamFunction::reads_positive, kSpecialPositive,
        [&] { return std::exp2(uniform(random, -8, 6)); });
    const double exponent = real(problem.parameters, "exponent");
    add("base", &StreamFunction::reads_base, kSpecialBase,
        [&] { return drawn_base(exponent, random); });
  }

  /// A number whose power is in range. Where the exponent is whole, every other one is negative.
  static double drawn_base(double exponent, Random& random) {
    constexpr double kMostOctaves = 120;  // of a power, above or below 1
    const double octaves = kMostOctaves / std::abs(exponent);
    const double size = std::exp2(uniform(random, -std::min(8.0, octaves), std::min(6.0, octaves)));
    return std::rint(exponent) == exponent ? with_a_sign(size, random) : size;
  }

  /// The elements of a problem that are compared.
  class Inputs {
   public:
    explicit Inputs(const Problem& problem)
        : problem_(problem),
          n_(integer(problem.parameters, "n")),
          s_(real(problem.parameters, "s")),
          exponent_(real(problem.parameters, "exponent")) {
      for (const Tensor& tensor : problem.tensors) {
        if (tensor.name == "a") a_ = floats(tensor);
        if (tensor.name == "b") b_ = floats(tensor);
        if (tensor.name == "positive") positive_ = floats(tensor);
        if (tensor.name == "base") base_ = floats(tensor);
      }
    }

    /// What `value` makes of the function's inputs, within `tolerance`.
    Expected outputs_of(const StreamFunction& function, double (*value)(const StreamOperands&),
                        double (*tolerance)(const StreamOperands&, double value)) const {
      const std::string output(function.name);
      const auto selected = selected_elements(problem_, output, kMostCompared);
      const auto n = static_cast<std::size_t>(n_);
      Expected expected{output, {}, {}, {}};
      for (const std::size_t i : listed(selected, n)) {
        const StreamOperands operands = at(i);
        // Not compared: sin of an infinity has no value, nor has an infinity times zero. A copy,
        // which computes nothing, has the very NaN.
        if (function.flops > 0 && std::isnan(function.value(operands))) continue;
        expected.index.push_back(i);
        expected.value.push_back(value(operands));
        expected.tolerance.push_back(tolerance(operands, expected.value.back()));
      }
      if (expected.index.size() == n) expected.index.clear();  // all of them
      return expected;
    }

   private:
    StreamOperands at(std::size_t i) const {
      const auto element = [i](std::span<const float> values) {
        return values.empty() ? 0.0 : static_cast<double>(values[i % values.size()]);
      };
      return {element(a_), element(b_), element(positive_), element(base_), s_, exponent_};
    }

    const Problem& problem_;
    std::int64_t n_;
    double s_, exponent_;
    std::span<const float> a_, b_, positive_, base_;
  };
};

ROOFLAB_ORACLE("stream", StreamOracle)

}  // namespace
}  // namespace rooflab
