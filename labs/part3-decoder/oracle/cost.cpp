#include <algorithm>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/wrong_results.h"

namespace rooflab {
namespace {

/// The summands of what cost.h asks for, in one case. Attention, whose counts depend on the mask,
/// is not among them.
class CostTerms {
 public:
  explicit CostTerms(const Values& parameters)
      : parameters_(parameters),
        hidden_(number("hidden")),
        queries_(number("query_heads") * number("head_dim")),
        keys_(number("key_value_heads") * number("head_dim")),
        bytes_(number("bytes_per_element")) {}

  /// Each term as often as it is in the totals.
  NamedNumbers totals_of(const std::string& function) {
    of_function(function);
    return totals_;
  }

  std::vector<Term> of_function(const std::string& function) {
    if (function == "projections_cost") add_projections(new_tokens());
    if (function == "mlp_cost") add_mlp(new_tokens());
    if (function == "layer_cost") add_layer(new_tokens());
    if (function == "decode_cost") add_layer(number("batch"));
    if (function == "prefill_cost") add_layer(number("batch") * number("length"));
    return std::move(terms_);
  }

 private:
  double number(const char* name) const {
    return parameters_.contains(name) ? static_cast<double>(integer(parameters_, name, 0)) : 0;
  }
  double new_tokens() const { return number("batch") * number("query_length"); }

  /// @param times that the totals have it
  void add(const char* name, double macs, double flops, double elements, double times = 1) {
    totals_["macs"] += times * macs;
    totals_["flops"] += times * flops;
    totals_["bytes"] += times * elements * bytes_;
    terms_.push_back({Sentence::of_all_cases(name),
                      {{"macs", macs}, {"flops", flops}, {"bytes", elements * bytes_}}});
  }

  void add_gemm(const char* name, double tokens, double in, double out) {
    add(name, tokens * in * out, 2 * tokens * in * out, tokens * in + in * out + tokens * out);
  }

  void add_norm(const char* name, double rows, double width, double times = 1) {
    add(name, 0, rows * (5 * width + 3), 2 * rows * width + width, times);
  }

  void add_projections(double tokens) {
    add_gemm("the projection to queries", tokens, hidden_, queries_);
    add_gemm("the projection to keys", tokens, hidden_, keys_);
    add_gemm("the projection to values", tokens, hidden_, keys_);
    add_gemm("the projection of the heads' results", tokens, queries_, hidden_);
  }

  void add_rope(double tokens) {
    add("the rotation of the queries", 0, 3 * tokens * queries_, 2 * tokens * queries_);
    add("the rotation of the keys", 0, 3 * tokens * keys_, 2 * tokens * keys_);
  }

  void add_mlp(double tokens) {
    const double width = number("intermediate");
    add_gemm("the GEMM with gate", tokens, hidden_, width);
    add_gemm("the GEMM with up", tokens, hidden_, width);
    add_gemm("the GEMM with down", tokens, width, hidden_);
    add("geglu", 0, 9 * tokens * width, 3 * tokens * width);
  }

  void add_layer(double tokens) {
    add_norm("one of the four norms over the hidden state", tokens, hidden_, 4);
    add_norm("the norm over each query head", tokens * number("query_heads"), number("head_dim"));
    add_norm("the norm over each key head", tokens * number("key_value_heads"), number("head_dim"));
    add("one of the two residual additions", 0, tokens * hidden_, 3 * tokens * hidden_, 2);
    add_projections(tokens);
    add_rope(tokens);
    add_mlp(tokens);
  }

  const Values& parameters_;
  double hidden_, queries_, keys_, bytes_;
  std::vector<Term> terms_;
  NamedNumbers totals_;
};

/// What attention sees of its keys, query by query.
struct Seen {
  std::int64_t pairs = 0;  ///< of a query and a key that it sees
  std::int64_t keys = 0;   ///< that some query sees, of one sequence
};

Seen seen_by(std::int64_t queries, std::int64_t keys, std::int64_t window) {
  Seen seen;
  std::int64_t oldest = keys;
  for (std::int64_t position = keys - queries; position < keys; ++position) {
    const std::int64_t first = window == 0 ? 0 : std::max<std::int64_t>(0, position - window + 1);
    seen.pairs += position - first + 1;
    oldest = std::min(oldest, first);
  }
  seen.keys = keys - oldest;
  return seen;
}

/// The right counts of cost.h.
Values counted(const Values& parameters) {
  const auto number = [&](const char* name) { return integer(parameters, name, 0); };
  const std::string& function = text(parameters, "function");
  const bool is_of_length = parameters.contains("length");
  const std::int64_t length = is_of_length ? number("length") : number("key_length");
  const std::int64_t queries = function == "decode_cost" ? 1
                               : is_of_length            ? length
                                                         : number("query_length");
  if (queries > length) return {};
  const std::int64_t window = number("window"), batch = number("batch");
  const std::int64_t kv_width = number("key_value_heads") * number("head_dim");
  if (function == "kv_cache_bytes") {
    const std::int64_t slots = window != 0 && window < length ? window : length;
    return {{"cache_bytes", batch * slots * 2 * kv_width * number("bytes_per_element")}};
  }
  const Seen seen = seen_by(queries, length, window);
  if (function == "query_key_pairs") return {{"pairs", batch * seen.pairs}};
  NamedNumbers totals = CostTerms(parameters).totals_of(function);
  if (function != "projections_cost" && function != "mlp_cost") {
    const std::int64_t heads = number("query_heads");
    const std::int64_t pairs = batch * seen.pairs * heads;
    const std::int64_t elements =
        2 * batch * queries * heads * number("head_dim") + 2 * batch * seen.keys * kv_width;
    totals["macs"] += static_cast<double>(2 * pairs * number("head_dim"));
    totals["flops"] += static_cast<double>(4 * pairs * number("head_dim") + 5 * pairs);
    totals["bytes"] += static_cast<double>(elements * number("bytes_per_element"));
  }
  Values counts;
  for (const auto& [name, total] : totals) counts[name] = static_cast<std::int64_t>(total);
  return counts;
}

/// Names what wrong counts of cost.h come of. What is right in a case stands in part.toml.
class CostOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    return counted(problem.parameters);
  }

  std::optional<Complaint> explain(const Problem& problem, const Values& got,
                                   const Values& expected) const override {
    const auto terms =
        CostTerms(problem.parameters).of_function(text(problem.parameters, "function"));
    return explained_by_terms(got, expected, terms);
  }
};

ROOFLAB_ORACLE("cost", CostOracle)

}  // namespace
}  // namespace rooflab
