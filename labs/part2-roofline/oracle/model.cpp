#include <algorithm>
#include <array>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/wrong_results.h"

namespace rooflab {
namespace {

/// The roof that takes longest, of equal ones the first.
std::string longest_roof(double compute, double l2, double dram) {
  constexpr std::array<const char*, 3> kNames{"compute", "l2", "dram"};
  const std::array times{compute, l2, dram};
  return kNames.at(static_cast<std::size_t>(std::ranges::max_element(times) - times.begin()));
}

/// FLOP/s of so many FLOPs and bytes, of which the slower one takes the time.
double rate_of(double flops, double bytes, double peak, double bandwidth) {
  return flops / std::max(flops / peak, bytes / bandwidth);
}

/// The first size whose FLOPs take as long as its bytes, by trying.
std::int64_t smallest_gemm(double ridge_point, double bytes_per_element) {
  constexpr double kRounding = 1e-12;
  const auto is_enough = [&](std::int64_t n) {
    const auto size = static_cast<double>(n);
    return 2 * size >= ridge_point * 3 * bytes_per_element * (1 - kRounding);
  };
  std::int64_t below = 0, enough = 1;
  while (!is_enough(enough)) enough *= 2;
  while (below + 1 < enough) {
    const std::int64_t middle = below + (enough - below) / 2;
    (is_enough(middle) ? enough : below) = middle;
  }
  return enough;
}

/// Names what wrong results of roofline_model.h come of. What is right in a case stands in
/// part.toml.
class ModelOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const std::string& function = text(problem.parameters, "function");
    const auto number = [&](const char* name) { return number_of(problem.parameters, name); };
    const double peak = number("flops_per_second"), bandwidth = number("bytes_per_second");
    if (function == "gpu_of") {
      const double dense = number("with_sparsity") == 0 ? 1 : 2;
      return {{"flops_per_second", number("tflops_per_second") / dense * 1e12},
              {"bytes_per_second", number("gb_per_second") * 1e9}};
    }
    if (function == "ridge_point") return {{"ridge_point", peak / bandwidth}};
    if (function == "attainable") {
      return {{"attainable", rate_of(number("intensity"), 1, peak, bandwidth)}};
    }
    if (function == "least_seconds") {
      return {{"seconds", std::max(number("flops") / peak, number("bytes") / bandwidth)}};
    }
    if (function == "crossover_flops") {
      const double arrays = number("inputs") + 1;
      return {{"flops_per_element", peak * arrays * number("bytes_per_element") / bandwidth}};
    }
    if (function == "smallest_compute_bound_gemm") {
      return {{"n", smallest_gemm(peak / bandwidth, number("bytes_per_element"))}};
    }
    if (function == "attainable_warm") {
      const bool fits = number("bytes") <= number("l2_bytes");
      return {{"attainable", rate_of(number("flops"), number("bytes"), peak,
                                     fits ? number("l2_bytes_per_second") : bandwidth)}};
    }
    if (function == "utilisation") {
      const double seconds = number("seconds");
      return {{"model_flops", number("flops") / seconds / peak},
              {"hardware_flops", number("executed") / seconds / peak},
              {"bandwidth", number("bytes") / seconds / bandwidth}};
    }
    return {};
  }

  std::optional<Complaint> explain(const Problem& problem, const Values& got,
                                   const Values& expected) const override {
    return explained_by_slips(got, expected, slips(problem.parameters, expected));
  }

 private:
  static std::vector<ResultSlip> slips(const Values& parameters, const Values& expected) {
    const std::string& function = text(parameters, "function");
    if (function == "limiting_roof") return roof_slips(parameters);
    if (function == "utilisation") return utilisation_slips(parameters);
    if (function != "smallest_compute_bound_gemm") return {};
    const auto right = static_cast<std::int64_t>(number_of(expected, "n"));
    return {
        {{{"n", right - 1}},
         "RL0439",
         "the bound is rounded down, or to the nearest: this N is still memory-bound",
         "the smallest whole number that is at least the bound: round up"},
        {{{"n", right + 1}},
         "RL0439",
         "this is one more: one is added to a bound that was rounded up already, or a product at "
         "the ridge point itself is taken for memory-bound",
         "the smallest whole number that is at least the bound, which may be the bound itself"}};
  }

  /// Rates taken from the wrong numbers, or held against the wrong ones.
  static std::vector<ResultSlip> utilisation_slips(const Values& parameters) {
    const auto number = [&](const char* name) { return number_of(parameters, name); };
    const double peak = number("flops_per_second") * number("seconds");
    const double most_bytes = number("bytes_per_second") * number("seconds");
    const double needed = number("flops") / peak, executed = number("executed") / peak;
    const double bandwidth = number("bytes") / most_bytes;
    const double roof = std::min(peak, number("flops") / number("bytes") * most_bytes);
    const auto shares = [](double model, double hardware, double bytes) {
      return Values{{"model_flops", model}, {"hardware_flops", hardware}, {"bandwidth", bytes}};
    };
    std::vector<ResultSlip> slips = {
        {shares(number("flops") / roof, number("executed") / roof, bandwidth), "RL0439",
         "these are shares of what the roofline lets the operation attain, not of the peak",
         "utilisation is of gpu.flops_per_second, whatever the operation's intensity"},
        {shares(needed, executed, needed), "RL0439",
         "the bandwidth's share is that of the FLOPs again",
         "needed.bytes over the bytes that DRAM could have moved in these seconds"},
        {shares(needed, executed, number("bytes") / peak), "RL0439",
         "bytes are held against the peak in FLOP/s",
         "B/s over FLOP/s is no share of anything: divide bytes by gpu.bytes_per_second"}};
    if (needed == executed) return slips;
    slips.insert(
        slips.end(),
        {{shares(executed, executed, bandwidth), "RL0439",
          "model FLOPs utilisation is taken from the executed FLOPs",
          "work that the operation does not need earns nothing there: count needed.flops"},
         {shares(needed, needed, bandwidth), "RL0439",
          "hardware FLOPs utilisation is taken from the needed FLOPs",
          "the hardware was busy with all that it executed: count executed_flops"},
         {shares(executed, needed, bandwidth), "RL0439",
          "model and hardware FLOPs utilisation are swapped",
          "the model's is of what the operation needs, the hardware's of what was executed"},
         {shares(needed / executed, executed, bandwidth), "RL0439",
          "this is the share of the executed FLOPs that was needed, not a share of the peak",
          "needed FLOPs over the FLOPs that the GPU could have done in these seconds"}});
    return slips;
  }

  /// A roof has three names: only slips that many make are held against it.
  static std::vector<ResultSlip> roof_slips(const Values& parameters) {
    const double bandwidth = real(parameters, "bytes_per_second");
    const double l2_bandwidth = real(parameters, "l2_bytes_per_second");
    const auto traffic = [&](const char* name) {
      return static_cast<double>(integer(parameters, name, 0));
    };
    const double compute = traffic("flops") / real(parameters, "flops_per_second");
    const double l2 = traffic("l2_traffic"), dram = traffic("dram_traffic");
    const auto roof = [&](const std::string& name) { return Values{{"roof", name}}; };
    return {{roof(longest_roof(compute, l2 / bandwidth, dram / bandwidth)), "RL0439",
             "this is the roof if the L2's bytes crossed at DRAM's bandwidth",
             "l2_bytes cross at l2_bytes_per_second"},
            {roof(longest_roof(compute, l2 / l2_bandwidth, dram / l2_bandwidth)), "RL0439",
             "this is the roof if DRAM's bytes crossed at the L2's bandwidth",
             "dram_bytes cross at dram.bytes_per_second"},
            {roof(longest_roof(-compute, -l2 / l2_bandwidth, -dram / bandwidth)), "RL0439",
             "this is the roof that takes the shortest time",
             "what takes longest limits: the other two are done before it"}};
  }
};

ROOFLAB_ORACLE("model", ModelOracle)

}  // namespace
}  // namespace rooflab
