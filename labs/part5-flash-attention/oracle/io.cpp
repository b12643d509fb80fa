#include <algorithm>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"

namespace rooflab {
namespace {

/// The numbers of io.h, counted tile by tile and query by query.
class Counts {
 public:
  explicit Counts(const Values& parameters) : parameters_(parameters) {}

  std::int64_t flops() const {
    std::int64_t pairs = 0;
    for (std::int64_t query = 0; query < length(); ++query) {
      pairs += is_causal() ? query + 1 : length();
    }
    return number("heads") * pairs * 4 * number("head_dim");
  }

  /// Of three kernels, array by array.
  std::int64_t standard_traffic() const {
    const std::int64_t row = number("head_dim"), scores = length() * length();
    std::int64_t elements = 2 * length() * row + scores;  // queries and keys in, scores out
    elements += scores + scores;                          // softmax
    elements += scores + 2 * length() * row;              // weights and values in, result out
    return number("heads") * elements * number("bytes_per_element");
  }

  std::int64_t query_rows() const {
    const auto fits = [&](std::int64_t rows) {
      const std::int64_t all = 2 * rows + 2 * number("key_rows");
      return all * number("head_dim") * number("bytes_per_element") <= number("on_chip_bytes");
    };
    return last_that(fits);
  }

  std::int64_t flash_traffic() const {
    const std::int64_t query_rows = number("query_rows"), key_rows = number("key_rows");
    std::int64_t rows = 0;
    for (std::int64_t first = 0; first < length(); first += query_rows) {
      const std::int64_t last = std::min(first + query_rows, length()) - 1;
      rows += 2 * (last - first + 1);  // of queries and of the result
      for (std::int64_t key = 0; key < length(); key += key_rows) {
        if (is_causal() && key > last) break;
        rows += 2 * (std::min(key + key_rows, length()) - key);  // of keys and of values
      }
    }
    const std::int64_t bytes = rows * number("head_dim") * number("bytes_per_element");
    return number("heads") * bytes + flash_memory();
  }

  std::int64_t standard_memory() const {
    return number("heads") * length() * length() * number("bytes_per_element");
  }
  std::int64_t flash_memory() const { return number("heads") * length() * 4; }

  std::int64_t longest() const {
    const bool is_flash = text(parameters_, "form") == "flash";
    const std::int64_t element = number("bytes_per_element");
    const auto fits = [&](std::int64_t n) {
      const std::int64_t row = 4 * number("head_dim") * element + (is_flash ? 4 : n * element);
      return row <= number("memory_bytes") / (n * number("heads"));
    };
    return last_that(fits);
  }

  std::int64_t compute_bound_rows() const {
    constexpr double kRounding = 1e-12;
    const double ridge =
        real(parameters_, "flops_per_second") / real(parameters_, "bytes_per_second");
    const auto is_too_few = [&](std::int64_t rows) {
      const double intensity =
          2 * static_cast<double>(rows) / static_cast<double>(number("bytes_per_element"));
      return intensity < ridge * (1 - kRounding);
    };
    return last_that(is_too_few) + 1;
  }

 private:
  std::int64_t number(const char* name) const { return integer(parameters_, name); }
  std::int64_t length() const { return number("length"); }
  bool is_causal() const { return integer(parameters_, "causal", 0) != 0; }

  /// The last number from 0 on for which a condition holds that small numbers fulfil.
  template <typename Condition>
  static std::int64_t last_that(const Condition& holds) {
    std::int64_t beyond = 1;
    while (holds(beyond)) beyond *= 2;
    std::int64_t last = beyond / 2;
    while (last + 1 < beyond) {
      const std::int64_t middle = last + (beyond - last) / 2;
      (holds(middle) ? last : beyond) = middle;
    }
    return holds(std::max<std::int64_t>(last, 1)) ? last : 0;
  }

  const Values& parameters_;
};

/// The functions of io.h with other parameters than those of cases. What is right in a case stands
/// in part.toml.
class IoOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const Counts counts(problem.parameters);
    const std::string& function = text(problem.parameters, "function");
    if (function == "attention_flops") return {{"flops", counts.flops()}};
    if (function == "standard_traffic") return {{"bytes", counts.standard_traffic()}};
    if (function == "query_rows_that_fit") return {{"query_rows", counts.query_rows()}};
    if (function == "flash_traffic") return {{"bytes", counts.flash_traffic()}};
    if (function == "standard_memory") return {{"memory", counts.standard_memory()}};
    if (function == "flash_memory") return {{"memory", counts.flash_memory()}};
    if (function == "longest_sequence") return {{"length", counts.longest()}};
    if (function == "smallest_compute_bound_query_rows") {
      return {{"rows", counts.compute_bound_rows()}};
    }
    return {};
  }
};

ROOFLAB_ORACLE("io", IoOracle)

}  // namespace
}  // namespace rooflab
