#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/part5-flash-attention/oracle/attention.h"

/// The attention problem that a case's parameters describe: its tensors, its rows that are judged,
/// what they must hold, and its work.
namespace rooflab {

/// `causal` is 0 or 1. Where a case gives none of them, `window` is 0, `score_spread`, the standard
/// deviation of the scores, is 2, and `score_mean`, at most 0, and `value_mean` are 0. `scale` is
/// drawn.
struct AttentionCase {
  AttentionShape shape;
  Mask mask;
  ElementType type;
  double score_spread, score_mean, value_mean;
  double scale;          ///< 0 before problem() has drawn it
  bool has_log_sum_exp;  ///< is an output

  /// @throws std::invalid_argument naming the parameter that is missing or does not fit
  static AttentionCase read(const Values& parameters, bool has_log_sum_exp);

  std::int64_t pairs() const;        ///< of queries and the keys that they see, over all heads
  std::int64_t score_count() const;  ///< pairs of queries and keys, over all heads

  Problem problem(const Values& parameters, std::uint64_t seed) const;
  AttentionRule rule() const;
  Work work() const;

  /// What the rule gives for the rows that are judged: out, and log_sum_exp if it is an output.
  std::vector<Expected> expected(const Problem& problem, const AttentionRule& rule) const;
  /// The same with other keys or values than the problem's.
  std::vector<Expected> expected(const Problem& problem, const AttentionRule& rule,
                                 const Numbers& keys, const Numbers& values) const;

  /// The same of a vast problem, whose keys and values are not there as a whole.
  /// @pre each query sees some of them
  std::vector<Expected> expected_of_vast(const Problem& problem, const AttentionRule& rule) const;

  /// All rows, or a sample where there is too much to compute in fp64: the first and the last ones,
  /// which edges go wrong at, and others that nobody can know before.
  std::vector<std::int64_t> judged_rows(const Problem& problem) const;
};

/// Device memory that a call took beyond the tensors of its problem, at its peak.
std::uint64_t extra_memory(const AttentionCase& c, const CallEvidence& evidence);

/// Whether threads keep the scores in local memory, which is device memory too: more bytes of it
/// than the state of the rows explains, each of which is computed in `parts` parts.
std::optional<Complaint> complaint_of_local_memory(const AttentionCase& c, std::int64_t parts,
                                                   const CallEvidence& evidence);

/// Keys or values, (batch, key_value_heads, key_length, head_dim), whose blocks of 16 x 16 are
/// transposed, as far as they are there: what comes of loading a fragment the wrong way round.
Numbers with_transposed_blocks(const AttentionShape& shape, const Numbers& matrix);

/// Whether tensor cores did less than the work of a case in half precision or bf16, both products
/// of it.
std::optional<Complaint> complaint_without_tensor_cores(const Work& work,
                                                        const CallEvidence& evidence);

/// The same complaints of a timed call, which then has no points.
std::vector<SpeedRemark> forfeiting(const std::vector<Complaint>& complaints);

/// Bytes of it that are nobody's fault: what a library takes for itself, and the __device__
/// constants of CUDA's own headers, such as cooperative_groups/reduce.h.
inline constexpr std::uint64_t kLibrarySlack = 4096;

}  // namespace rooflab
