#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/wrong_results.h"

namespace rooflab {
namespace {

/// How a convolution may be counted. The defaults are right.
struct ConvolutionRule {
  std::int64_t padded_sides = 2;
  bool uses_dilation = true;
  bool uses_stride = true;
  std::int64_t more_places = 1;  ///< than strides that fit
  bool groups_share_weights = false;
  bool counts_whole_groups = false;  ///< each output channel sees all input channels
};

constexpr const char kAddition[] = "the addition of the bias";

/// Names what wrong counts of counters.h come of. What is right in a case stands in part.toml.
class CountersOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const Values& parameters = problem.parameters;
    const auto number = [&](const char* name) { return integer(parameters, name, 0); };
    const std::string& function = text(parameters, "function");
    if (function == "conv2d_cost") return right_convolution(parameters);
    if (function == "pointwise_cost") {
      const std::int64_t arrays = number("inputs") + 1;
      return {{"macs", std::int64_t{0}},
              {"flops", number("elements") * number("flops_per_element")},
              {"bytes", arrays * number("elements") * number("bytes_per_element")}};
    }
    if (function == "arithmetic_intensity") {
      if (number("bytes") == 0) return {};
      return {{"intensity",
               static_cast<double>(number("flops")) / static_cast<double>(number("bytes"))}};
    }
    if (function == "gemm_cost") return summed(parameters, {"m", "n", "k"});
    if (function == "gemv_cost") return summed(parameters, {"m", "k"});
    if (function == "linear_cost") {
      return summed(parameters, {"tokens", "in_features", "out_features"});
    }
    return {};
  }

  std::optional<Complaint> explain(const Problem& problem, const Values& got,
                                   const Values& expected) const override {
    const Values& parameters = problem.parameters;
    auto by_terms = explained_by_terms(got, expected, terms(parameters));
    if (by_terms) return by_terms;
    if (text(parameters, "function") != "conv2d_cost") return std::nullopt;
    return explained_by_slips(got, expected, convolution_slips(parameters));
  }

 private:
  static std::vector<Term> terms(const Values& parameters) {
    const std::string& function = text(parameters, "function");
    const auto array = [&](const char* name, std::initializer_list<const char*> extents) {
      auto bytes = static_cast<double>(integer(parameters, "bytes_per_element"));
      for (const char* extent : extents) bytes *= static_cast<double>(integer(parameters, extent));
      return Term{Sentence::of_all_cases(name), {{"bytes", bytes}}};
    };
    if (function == "gemm_cost") {
      return {array("A", {"m", "k"}), array("B", {"k", "n"}), array("C", {"m", "n"})};
    }
    if (function == "gemv_cost")
      return {array("A", {"m", "k"}), array("x", {"k"}), array("y", {"m"})};
    if (function != "linear_cost") return {};
    std::vector<Term> terms{array("the input", {"tokens", "in_features"}),
                            array("the weight", {"in_features", "out_features"}),
                            array("the output", {"tokens", "out_features"})};
    if (integer(parameters, "bias", 0) == 0) return terms;
    const double additions = static_cast<double>(integer(parameters, "tokens")) *
                             static_cast<double>(integer(parameters, "out_features"));
    Term bias = array("the bias", {"out_features"});
    terms.push_back(bias);
    terms.push_back({kAddition, {{"flops", additions}}});
    bias.adds["flops"] = additions;
    terms.push_back(bias);
    return terms;
  }

  /// Each term of a product of matrices once; a bias has its two parts in one.
  /// @param loops over which its multiplications run
  static Values summed(const Values& parameters, std::initializer_list<const char*> loops) {
    std::int64_t macs = 1;
    for (const char* loop : loops) macs *= integer(parameters, loop);
    std::map<std::string, std::int64_t> sums{{"flops", 2 * macs}, {"bytes", 0}};
    for (const Term& term : terms(parameters)) {
      const bool is_part = term.name.text == "the bias" || term.name.text == kAddition;
      const bool is_whole_bias = term.adds.size() > 1;
      if (is_part && !is_whole_bias) continue;
      for (const auto& [name, count] : term.adds) sums[name] += static_cast<std::int64_t>(count);
    }
    return {{"macs", macs}, {"flops", sums["flops"]}, {"bytes", sums["bytes"]}};
  }

  /// Nothing where the kernel does not fit into the input, or the groups do not divide the
  /// channels.
  static Values right_convolution(const Values& parameters) {
    const auto number = [&](const char* name) { return integer(parameters, name, 0); };
    const auto fits = [&](const char* size, const char* taps) {
      return number(taps) > 0 &&
             number("dilation") * (number(taps) - 1) + 1 <= number(size) + 2 * number("padding");
    };
    const std::int64_t groups = number("groups");
    const bool makes_sense = fits("height", "kernel_height") && fits("width", "kernel_width") &&
                             groups > 0 && number("stride") > 0 && number("dilation") > 0 &&
                             number("in_channels") % groups == 0 &&
                             number("out_channels") % groups == 0;
    return makes_sense ? convolution(parameters, {}) : Values{};
  }

  static Values convolution(const Values& parameters, const ConvolutionRule& rule) {
    const auto number = [&](const char* name) { return integer(parameters, name, 0); };
    const auto places = [&](const char* size, const char* taps) {
      const std::int64_t apart = rule.uses_dilation ? number("dilation") : 1;
      const std::int64_t reach = apart * (number(taps) - 1) + 1;
      const std::int64_t room = number(size) + rule.padded_sides * number("padding") - reach;
      return room / (rule.uses_stride ? number("stride") : 1) + rule.more_places;
    };
    const std::int64_t taps = number("kernel_height") * number("kernel_width");
    const std::int64_t seen = number("in_channels") / number("groups");
    const std::int64_t out = number("batch") * number("out_channels") *
                             places("height", "kernel_height") * places("width", "kernel_width");
    const std::int64_t macs =
        out * taps * (rule.counts_whole_groups ? number("in_channels") : seen);
    const std::int64_t in =
        number("batch") * number("in_channels") * number("height") * number("width");
    const std::int64_t weight =
        number("out_channels") * taps * (rule.groups_share_weights ? number("in_channels") : seen);
    return {{"macs", macs},
            {"flops", 2 * macs},
            {"bytes", (in + weight + out) * number("bytes_per_element")}};
  }

  static std::vector<ResultSlip> convolution_slips(const Values& parameters) {
    constexpr const char* kPlaces =
        "along each axis: (size + 2 padding - dilation (taps - 1) - 1) / stride + 1 positions";
    std::vector<ResultSlip> slips;
    const auto add = [&](const char* cause, const char* advice, const ConvolutionRule& rule) {
      slips.push_back(
          {convolution(parameters, rule), "RL0439", Sentence::of_all_cases(cause), advice});
    };
    add("the padding is added on one side only", kPlaces, {.padded_sides = 1});
    add("the padding is left out", kPlaces, {.padded_sides = 0});
    add("the dilation is left out", kPlaces, {.uses_dilation = false});
    add("the stride is left out", kPlaces, {.uses_stride = false});
    add("one position too few is counted along each axis", kPlaces, {.more_places = 0});
    constexpr const char* kGroups =
        "each output channel sees in_channels / groups channels, and has weights for these alone";
    add("the groups are left out", kGroups,
        {.groups_share_weights = true, .counts_whole_groups = true});
    add("the groups are left out of the weight", kGroups, {.groups_share_weights = true});
    return slips;
  }
};

ROOFLAB_ORACLE("counters", CountersOracle)

}  // namespace
}  // namespace rooflab
