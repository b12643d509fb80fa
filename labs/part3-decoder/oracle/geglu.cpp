#include <cmath>
#include <iterator>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/selection.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

Computed geglu(const Numbers& gate, const Numbers& up, const std::function<double(double)>& gelu) {
  // For negative x, 1 + tanh cancels: what is left is off by the roundings of a number near 1.
  constexpr double kRoundings = 8;
  Computed out{Numbers(gate.size()), Numbers(gate.size())};
  for (std::size_t i = 0; i < gate.size(); ++i) {
    out.value[i] = gelu(gate[i]) * up[i];
    out.error[i] = kRoundings * kFloat32Unit * std::abs(gate[i] * up[i]);
  }
  return out;
}

namespace {

/// out (count) = GELU of gate, times up. With `largest`, some gates are as large as numbers get.
class GegluOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t count = integer(parameters, "count");
    const ElementType type = storage_type(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    const std::int64_t drawn = problem.vast ? vast_period(type) : count;
    const auto add = [&](const Tensor& tensor) {
      problem.tensors.push_back(problem.vast ? repeated(tensor, count) : tensor);
    };
    Numbers gate = gates(drawn, random);
    Numbers up = normal_values(drawn, 1, random);
    if (parameters.contains("largest")) add_largest(gate, up);
    add(filled("gate", type, Role::input, {drawn}, gate));
    add(filled("up", type, Role::input, {drawn}, up));
    problem.tensors.push_back(output("out", type, {count}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (!problem.vast) {
      return {result(problem, geglu(widened(problem, "gate"), widened(problem, "up")))};
    }
    const std::vector<std::size_t> index = elements_if_vast(problem, "out");
    Expected out = result(problem, geglu(widened(tensor(problem, "gate"), index),
                                         widened(tensor(problem, "up"), index)));
    out.index = index;
    return {out};
  }

  Work work(const Values& parameters) const override {
    // 8 FLOPs for GELU by the course's convention, 1 for the product.
    const auto count = static_cast<double>(integer(parameters, "count"));
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    return {{{"fp32", 9 * count}}, bytes * 3 * count};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Numbers gate = widened(problem, "gate");
    const Numbers up = widened(problem, "up");
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, Computed out) {
      mistakes.add(code, cause, advice, {result(problem, std::move(out))});
    };
    add("RL0469", "GELU is computed with erf instead of with the tanh formula",
        "Gemma uses 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))", geglu(gate, up, gelu_erf));
    add("RL0469", "another function stands where GELU should: x * sigmoid(1.702 x)",
        "Gemma uses 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))",
        geglu(gate, up, [](double x) { return sigmoid_unit(x, 1.702); }));
    add("RL0469", "another function stands where GELU should: x * sigmoid(x), the SiLU",
        "Gemma uses 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))",
        geglu(gate, up, [](double x) { return sigmoid_unit(x, 1); }));
    add("RL0470", "GELU is taken of up instead of gate", "out = gelu(gate) * up", geglu(up, gate));
    add("RL0470", "GELU is taken of the product of gate and up", "out = gelu(gate) * up",
        gelu_of_product(gate, up));
    add("RL0470", "gelu(gate) is multiplied by gate instead of up", "out = gelu(gate) * up",
        geglu(gate, gate));
    add("RL0470", "up is left out", "out = gelu(gate) * up", geglu(gate, Numbers(up.size(), 1.0)));
    return mistakes.take();
  }

 private:
  /// tanh and erf differ most, relative to GELU itself, around -3. Some gates are so large that
  /// exp(2 x) overflows, and a tanh that is a quotient of such exponentials is not a number.
  static Numbers gates(std::int64_t count, Random& random) {
    constexpr double kDeviation = 2;
    constexpr std::int64_t kDistanceOfLargeOnes = 101;
    constexpr double kLarge = 30;
    Numbers gate = normal_values(count, kDeviation, random);
    for (std::int64_t i = 13; i < count; i += kDistanceOfLargeOnes) gate[i] *= kLarge;
    return gate;
  }

  /// GELU of the largest numbers is a number, though twice of it is none, nor is its cube. The
  /// product with up stays in range.
  static void add_largest(Numbers& gate, Numbers& up) {
    constexpr double kLarge[] = {3.38e38, -3.38e38, 1.75e38, -1e20, 2e13, -2e19};
    constexpr std::size_t kDistance = 7;
    constexpr double kUp = 0.75;
    for (std::size_t i = 3; i < gate.size(); i += kDistance) {
      gate[i] = kLarge[i / kDistance % std::size(kLarge)];
      up[i] = kUp;
    }
  }

  static Expected result(const Problem& problem, Computed out) {
    return stored("out", storage_type(problem.parameters), std::move(out));
  }

  static Computed gelu_of_product(const Numbers& gate, const Numbers& up) {
    Numbers product(gate.size());
    for (std::size_t i = 0; i < gate.size(); ++i) product[i] = gate[i] * up[i];
    return geglu(product, Numbers(up.size(), 1.0));
  }
};

ROOFLAB_ORACLE("geglu", GegluOracle)

}  // namespace
}  // namespace rooflab
