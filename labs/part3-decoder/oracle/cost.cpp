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

  void add(const char* name, double macs, double flops, double elements) {
    terms_.push_back({Sentence::of_all_cases(name),
                      {{"macs", macs}, {"flops", flops}, {"bytes", elements * bytes_}}});
  }

  void add_gemm(const char* name, double tokens, double in, double out) {
    add(name, tokens * in * out, 2 * tokens * in * out, tokens * in + in * out + tokens * out);
  }

  void add_norm(const char* name, double rows, double width) {
    add(name, 0, rows * (5 * width + 3), 2 * rows * width + width);
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
    add_norm("one of the four norms over the hidden state", tokens, hidden_);
    add_norm("the norm over each query head", tokens * number("query_heads"), number("head_dim"));
    add_norm("the norm over each key head", tokens * number("key_value_heads"), number("head_dim"));
    add("one of the two residual additions", 0, tokens * hidden_, 3 * tokens * hidden_);
    add_projections(tokens);
    add_rope(tokens);
    add_mlp(tokens);
  }

  const Values& parameters_;
  double hidden_, queries_, keys_, bytes_;
  std::vector<Term> terms_;
};

/// Names what wrong counts of cost.h come of. What is right stands in part.toml.
class CostOracle : public Oracle {
 public:
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
