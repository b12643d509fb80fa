#include <cmath>
#include <string>
#include <string_view>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"
#include "labs/part4-fusion/oracle/gated_mlp.h"

namespace rooflab {
namespace {

/// out (tokens, hidden) = the gated MLP of x (tokens, hidden), or only its product (tokens,
/// intermediate), which the steps of the ladder compute.
class MlpOracle : public Oracle {
 protected:
  enum class Output { out, product };
  explicit MlpOracle(Output output) : output_(output) {}

 public:
  MlpOracle() : MlpOracle(Output::out) {}

  /// `gate_size`, 1 where a case has none, makes elements of gate as much larger and those of up as
  /// much smaller.
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    const double gate_size = set_default(problem.parameters, "gate_size", 1);
    const Sizes sizes = sizes_of(parameters);
    const ElementType type = storage_type(parameters);
    const double unit = 1 / std::sqrt(static_cast<double>(sizes.hidden));
    Random random(seed);
    const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns, double size) {
      problem.tensors.push_back(
          random_tensor(name, type, Role::input, {rows, columns}, size, random));
    };
    add("x", sizes.tokens, sizes.hidden, 1);
    add("gate_proj", sizes.intermediate, sizes.hidden, kGate * gate_size * unit);
    add("up_proj", sizes.intermediate, sizes.hidden, unit / gate_size);
    if (output_ == Output::product) {
      problem.tensors.push_back(output("product", type, {sizes.tokens, sizes.intermediate}));
      return problem;
    }
    add("down_proj", sizes.hidden, sizes.intermediate,
        1 / std::sqrt(static_cast<double>(sizes.intermediate)));
    problem.tensors.push_back(output("out", type, {sizes.tokens, sizes.hidden}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {out_of(mlp_of(problem), {})};
  }

  Work work(const Values& parameters) const override {
    const Sizes sizes = sizes_of(parameters);
    const ElementType type = storage_type(parameters);
    const auto tokens = static_cast<double>(sizes.tokens);
    const auto hidden = static_cast<double>(sizes.hidden);
    const auto intermediate = static_cast<double>(sizes.intermediate);
    const char* peak = type == ElementType::float16 ? "fp16_tensor" : "fp32";
    // Weights, x and the result once each. What lies between may stay on the chip.
    const bool is_whole = output_ == Output::out;
    const double matrices = is_whole ? 3 : 2;
    const double result = tokens * (is_whole ? hidden : intermediate);
    const double elements = matrices * hidden * intermediate + tokens * hidden + result;
    return {{{peak, 2 * matrices * tokens * hidden * intermediate}},
            elements * static_cast<double>(size_of(type))};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const GatedMlp mlp = mlp_of(problem);
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice,
                         const GatedMlpRule& rule) {
      mistakes.add(code, cause, advice, {out_of(mlp, rule)});
    };
    add_wrong_products(add);
    for (const std::int64_t vector : {1, 2, 4, 8}) add_lost_lanes(mlp, vector, mistakes);
    constexpr const char* kLayout =
        "projections are (out_features, in_features): a row holds the weights of one result";
    add("RL0412", "gate_proj and up_proj are read as if they were (hidden, intermediate)", kLayout,
        {.projections_transposed = true});
    if (output_ == Output::out) {
      add("RL0412", "down_proj is read as if it were (intermediate, hidden)", kLayout,
          {.down_transposed = true});
    } else {
      add_transposed_product(problem, mistakes);
    }
    for (const std::int64_t tile : {8, 16, 32, 64, 128}) {
      const std::int64_t whole = mlp.hidden / tile * tile;
      if (whole == 0 || whole == mlp.hidden) continue;
      add("RL0413", "the last, partial tile along hidden is missing from gate and up",
          "round the number of tiles up, and fill what lies beyond the edge with zeros",
          {.terms_of_hidden = whole});
    }
    add_overflow(problem, mistakes);  // its results may be off by more than those of the others
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters)) return {};
    if (output_ == Output::product) {
      if (storage_type(problem.parameters) != ElementType::float16) {
        return untiled_loads(problem.parameters, evidence);
      }
      const auto complaint = without_tensor_cores(
          work(problem.parameters), evidence,
          "multiply fragments with wmma::mma_sync, once for gate and once for up in each "
          "iteration: multiply-adds of single halves run on the CUDA cores");
      return complaint ? std::vector{*complaint} : std::vector<Complaint>();
    }
    if (auto complaints = complaints_of_lent(evidence); !complaints.empty()) return complaints;
    return stored_intermediates(problem.parameters, evidence);
  }

  /// Speed is for what mlp.h asks for: a timed call that stores gate and up has no points.
  std::vector<SpeedRemark> judge_speed(const Values& parameters,
                                       const CallEvidence& evidence) const override {
    if (output_ == Output::product) return {};
    std::vector<SpeedRemark> remarks;
    for (const Complaint& complaint : stored_intermediates(parameters, evidence)) {
      remarks.push_back({complaint, true});
    }
    return remarks;
  }

 private:
  /// Tiles of 32 x 32 load an element of x once for every 32 features, and a weight once for every
  /// 32 tokens.
  static std::vector<Complaint> untiled_loads(const Values& parameters,
                                              const CallEvidence& evidence) {
    if (!evidence.keeps_records) return {};
    constexpr double kTile = 32;
    constexpr double kSpare = 2;  // times what the tiles load
    const Sizes sizes = sizes_of(parameters);
    const auto macs = static_cast<double>(sizes.tokens * sizes.hidden * sizes.intermediate);
    const double loads = floats_loaded(evidence);
    if (loads <= kSpare * 3 * macs / kTile) return {};
    return {{"RL0431",
             "global memory is read as if there were no tiles" +
                 Evidence{message(": kernels load ", loads, " numbers, and tiles of 32 x 32 load ",
                                  3 * macs / kTile)},
             "copy a tile of x, gate_proj and up_proj each to a __shared__ array, wait at "
             "__syncthreads(), and let all threads of the block multiply from there"}};
  }

  static std::vector<Complaint> stored_intermediates(const Values& parameters,
                                                     const CallEvidence& evidence) {
    if (!evidence.keeps_records) return {};
    const Sizes sizes = sizes_of(parameters);
    const auto bytes = static_cast<std::int64_t>(size_of(storage_type(parameters)));
    const std::int64_t product = bytes * sizes.tokens * sizes.intermediate;
    const std::int64_t out = bytes * sizes.tokens * sizes.hidden;
    // Atomics may put out together from a few parts: what they add to one address is stored once.
    constexpr std::int64_t kMostParts = 4, kWord = 4;
    std::int64_t stored = 0, added = 0, sums = 0;
    std::string kernels;
    for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
      const auto by_stores = static_cast<std::int64_t>(kernel.counters.global_store_bytes);
      const auto by_atomics = static_cast<std::int64_t>(kernel.counters.global_atomic_bytes);
      stored += by_stores;
      added += by_atomics;
      sums += kWord * static_cast<std::int64_t>(kernel.counters.atomic_addresses);
      kernels += message(kernels.empty() ? "" : ", ", name_of(kernel), " ", by_stores + by_atomics,
                         " bytes");
    }
    stored += std::max(sums, added - kMostParts * out);
    if (stored <= product + product / 2 + out) return {};  // as mlp.h says
    return {
        {"RL0497",
         "what lies before the product reaches memory" +
             Evidence{message(": kernels stored ", stored, " bytes, but the product and out have ",
                              "only ", product + out, ". They stored: ", kernels)},
         "compute gate and up in the same threads, and apply GELU and the product to the sums "
         "while these are in registers"}};
  }

  Output output_;
  static constexpr double kGate = 2;  ///< so that GELU's forms differ, see fused_gelu.cpp

  struct Sizes {
    std::int64_t tokens, hidden, intermediate;
  };

  static Sizes sizes_of(const Values& parameters) {
    return {integer(parameters, "tokens"), integer(parameters, "hidden"),
            integer(parameters, "intermediate")};
  }

  GatedMlp mlp_of(const Problem& problem) const {
    const Sizes sizes = sizes_of(problem.parameters);
    return {sizes.tokens,
            sizes.hidden,
            sizes.intermediate,
            storage_type(problem.parameters),
            widened(problem, "x"),
            widened(problem, "gate_proj"),
            widened(problem, "up_proj"),
            output_ == Output::out ? widened(problem, "down_proj") : std::vector<double>{}};
  }

  Expected out_of(const GatedMlp& mlp, const GatedMlpRule& rule) const {
    if (output_ == Output::out) return stored("out", mlp.type, gated_mlp(mlp, rule));
    return stored("product", mlp.type, gated_product(mlp, rule));
  }

  /// The product as (intermediate, tokens).
  void add_transposed_product(const Problem& problem, Mistakes& mistakes) const {
    const GatedMlp mlp = mlp_of(problem);
    const Computed right = gated_product(mlp);
    Computed turned = right;
    for (std::int64_t token = 0; token < mlp.tokens; ++token) {
      for (std::int64_t feature = 0; feature < mlp.intermediate; ++feature) {
        const auto from = static_cast<std::size_t>(token * mlp.intermediate + feature);
        const auto to = static_cast<std::size_t>(feature * mlp.tokens + token);
        turned.value[to] = right.value[from];
        turned.error[to] = right.error[from];
      }
    }
    mistakes.add("RL0414", "the product is stored as (intermediate, tokens)",
                 "a row of product belongs to a token: token * intermediate + feature",
                 {stored("product", mlp.type, std::move(turned))});
  }

  /// The name as it stands in the source: without result, parameters and unnamed namespaces.
  static std::string name_of(const simgpu::KernelRecord& kernel) {
    constexpr std::string_view kResult = "void ";
    constexpr std::string_view kUnnamed = "(anonymous namespace)::";
    std::string name = kernel.name;
    for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;) {
      name.erase(at, kUnnamed.size());
    }
    if (name.starts_with(kResult)) name.erase(0, kResult.size());
    return name.substr(0, name.find('('));
  }

  /// Sums that are kept in half pass its largest number where gate is large. A negative infinity
  /// becomes no number in GELU, and leaves none in its token's row of out.
  void add_overflow(const Problem& problem, Mistakes& mistakes) const {
    constexpr double kLargestHalf = 65504;
    if (storage_type(problem.parameters) != ElementType::float16) return;
    if (output_ == Output::product) {
      return add_sums_in_half(out_of(mlp_of(problem), {.sums_in_half = true}), mistakes);
    }
    if (kGate * real(problem.parameters, "gate_size") < kLargestHalf) return;
    const auto elements = static_cast<std::size_t>(tensor(problem, "out").elements());
    const Expected no_numbers{"out", std::vector<double>(elements, std::nan("")),
                              std::vector<double>(elements, 0.0)};
    add_sums_in_half(no_numbers, mistakes);
  }

  static void add_sums_in_half(const Expected& result, Mistakes& mistakes) {
    mistakes.add_not_finite(
        "RL0496", "the sums of gate and up are kept in half, whose largest number is 65,504",
        "accumulate in float: fragments of accumulators have type float, and gate is rounded "
        "nowhere",
        {result});
  }

  /// The weights of which lane 0 of a warp takes its part of the sum, if each lane takes `vector`
  /// elements at once; zeros for the others.
  static std::vector<double> of_first_lane(std::vector<double> weights, std::int64_t hidden,
                                           std::int64_t vector) {
    constexpr std::int64_t kLanes = 32;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::int64_t k = static_cast<std::int64_t>(i) % hidden;
      if (k / vector % kLanes != 0) weights[i] = 0;
    }
    return weights;
  }

  void add_lost_lanes(const GatedMlp& mlp, std::int64_t vector, Mistakes& mistakes) const {
    GatedMlp gate = mlp, up = mlp;
    gate.gate_proj = of_first_lane(mlp.gate_proj, mlp.hidden, vector);
    up.up_proj = of_first_lane(mlp.up_proj, mlp.hidden, vector);
    constexpr const char* kAdvice =
        "gate and up are two sums: add up both over the lanes of a warp before lane 0 uses them";
    mistakes.add("RL0418", "up is what the first lane of a warp has of it", kAdvice,
                 {out_of(up, {})});
    mistakes.add("RL0418", "gate is what the first lane of a warp has of it", kAdvice,
                 {out_of(gate, {})});
  }

  template <typename Add>
  static void add_wrong_products(const Add& add) {
    constexpr const char* kProduct = "product = gelu(gate) * up";
    constexpr const char* kFormula =
        "gelu(g) = 0.5 g (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))), and nothing else";
    add("RL0470", "GELU is taken of up instead of gate", kProduct,
        {.product = [](double gate, double up) { return gate * gelu_tanh(up); }});
    add("RL0470", "GELU is taken of the product of gate and up", kProduct,
        {.product = [](double gate, double up) { return gelu_tanh(gate * up); }});
    add("RL0470", "up is left out", kProduct,
        {.product = [](double gate, double) { return gelu_tanh(gate); }});
    add("RL0498", "the product of gate and up is stored before GELU is applied", kProduct,
        {.product = [](double gate, double up) { return gate * up; }});
    add("RL0469", "GELU is computed with erf instead of with the tanh formula", kFormula,
        {.product = [](double gate, double up) { return gelu_erf(gate) * up; }});
    add("RL0469", "another function stands where GELU should: x * sigmoid(1.702 x)", kFormula,
        {.product = [](double gate, double up) { return sigmoid_unit(gate, 1.702) * up; }});
    add("RL0469", "another function stands where GELU should: x * sigmoid(x), the SiLU", kFormula,
        {.product = [](double gate, double up) { return sigmoid_unit(gate, 1) * up; }});
    add("RL0491", "the cubic term 0.044715 g^3 of GELU is missing", kFormula,
        {.product = [](double gate, double up) { return gelu_tanh_with(gate, 0) * up; }});
  }
};

class GatedProductOracle : public MlpOracle {
 public:
  GatedProductOracle() : MlpOracle(Output::product) {}
};

/// The same for a step of one type, whose cases do not name it.
class TypedProductOracle : public GatedProductOracle {
 public:
  explicit TypedProductOracle(const char* type) : type_(type) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return MlpOracle::make(completed(parameters), seed);
  }
  Work work(const Values& parameters) const override {
    return MlpOracle::work(completed(parameters));
  }

 private:
  Values completed(Values parameters) const {
    parameters.try_emplace("type", std::string(type_));
    return parameters;
  }

  const char* type_;
};

class FloatProductOracle : public TypedProductOracle {
 public:
  FloatProductOracle() : TypedProductOracle("float") {}
};

class HalfProductOracle : public TypedProductOracle {
 public:
  HalfProductOracle() : TypedProductOracle("half") {}
};

ROOFLAB_ORACLE("mlp", MlpOracle)
ROOFLAB_ORACLE("gated_product", GatedProductOracle)
ROOFLAB_ORACLE("gated_product_float", FloatProductOracle)
ROOFLAB_ORACLE("gated_product_half", HalfProductOracle)

}  // namespace
}  // namespace rooflab
