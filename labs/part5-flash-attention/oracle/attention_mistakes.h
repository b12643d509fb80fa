#pragma once

#include <string>
#include <vector>

#include "labs/oracle_support/known_mistakes.h"
#include "labs/part5-flash-attention/oracle/attention_case.h"

namespace rooflab {

/// Collects the known mistakes of one attention problem. They are told apart in the order in which
/// they are added.
class AttentionMistakes {
 public:
  AttentionMistakes(const AttentionCase& c, const Problem& problem);

  /// One mistake that `change` makes of the right rule.
  template <typename Change>
  void add(Code code, const std::string& cause, const char* advice, const Change& change) {
    AttentionRule rule = case_.rule();
    change(rule);
    mistakes_.add(code, cause, advice, case_.expected(problem_, rule));
  }

  /// One that is known by where it leaves no finite number.
  template <typename Change>
  void add_not_finite(Code code, const std::string& cause, const char* advice,
                      const Change& change) {
    AttentionRule rule = case_.rule();
    change(rule);
    mistakes_.add_not_finite(code, cause, advice, case_.expected(problem_, rule));
  }

  void add_wrong_scales();
  void add_wrong_masks();
  /// The mask of one row of a tile for the rows of all warps.
  void add_masks_of_first_warp();
  /// Tiles of keys end with those that the first query of a tile of queries sees.
  void add_ends_of_first_query();
  /// Weights of masked keys that still hold the scores.
  void add_uncleared_weights();
  void add_wrong_windows();
  void add_wrong_heads();
  void add_wrong_softmax();
  void add_wrong_tiles();
  void add_rows_without_keys();
  void add_wrong_log_sum_exp();
  /// Keys that are left over when they are cut into `splits` parts: before the masks, for one lost
  /// key looks like a mask that is one too short.
  void add_lost_keys_of_splits(std::int64_t splits);
  void add_wrong_splits(std::int64_t splits);

  /// All of them, and as the last what arithmetic in half precision gives.
  std::vector<KnownMistake> take();

 private:
  /// Slips of the lines that rescale, beyond leaving one out.
  void add_wrong_rescaling(std::int64_t tile);
  void add_maxima_of_own_tiles(std::int64_t tile);
  std::vector<Expected> bounded_by_size(std::vector<Expected> outputs) const;
  std::vector<Expected> with_rows_not_a_number(std::int64_t query_tile,
                                               std::int64_t key_tile) const;

  const AttentionCase& case_;
  const Problem& problem_;
  std::vector<Expected> right_;
  Mistakes mistakes_;
};

}  // namespace rooflab
