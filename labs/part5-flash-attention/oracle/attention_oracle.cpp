#include "labs/part5-flash-attention/oracle/attention_oracle.h"

#include "labs/oracle_support/tensors.h"
#include "labs/part5-flash-attention/oracle/attention_mistakes.h"

namespace rooflab {

std::vector<KnownMistake> AttentionOracle::mistakes(const Problem& problem) const {
  if (problem.vast) return {};  // other cases know them
  const AttentionCase c = read(problem.parameters);
  AttentionMistakes mistakes(c, problem);
  mistakes.add_wrong_scales();
  mistakes.add_wrong_masks();
  mistakes.add_masks_of_first_warp();
  mistakes.add_ends_of_first_query();
  mistakes.add_uncleared_weights();
  mistakes.add_wrong_windows();
  mistakes.add_wrong_heads();
  mistakes.add_wrong_softmax();
  mistakes.add_rows_without_keys();
  mistakes.add_wrong_tiles();
  mistakes.add_wrong_log_sum_exp();
  return mistakes.take();
}

std::vector<KnownMistake> AttentionOracle::mistakes_of_fragments(const Problem& problem) const {
  if (problem.vast) return {};
  const AttentionCase c = read(problem.parameters);
  const Numbers keys = widened(problem, "k"), values = widened(problem, "v");
  Mistakes mistakes(expect(problem));
  mistakes.add("RL0412", "the fragments of the keys are not transposed",
               "a key is a row of its tile and a column of K^T: load it with load_b_transposed",
               c.expected(problem, c.rule(), with_transposed_blocks(c.shape, keys), values));
  mistakes.add("RL0412", "the fragments of the values are transposed",
               "a value is a row of its tile and of the second factor: load it with load_b",
               c.expected(problem, c.rule(), keys, with_transposed_blocks(c.shape, values)));
  return mistakes.take();
}

}  // namespace rooflab
