#include "labs/part5-flash-attention/oracle/attention_oracle.h"

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

}  // namespace rooflab
