#include <stdexcept>

#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part5-flash-attention/oracle/attention_mistakes.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"

namespace rooflab {
namespace {

/// The newest token alone, its keys in `splits` parts.
class DecodeOracle : public AttentionOracle {
 public:
  DecodeOracle() : AttentionOracle(false) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    integer(parameters, "splits");
    if (read(parameters).shape.query_length != 1) {
      throw std::invalid_argument("`query_length` must be 1");
    }
    return AttentionOracle::make(parameters, seed);
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const AttentionCase c = read(problem.parameters);
    AttentionMistakes mistakes(c, problem);
    mistakes.add_lost_keys_of_splits(integer(problem.parameters, "splits"));
    mistakes.add_wrong_scales();
    mistakes.add_wrong_masks();
    mistakes.add_wrong_windows();
    mistakes.add_wrong_heads();
    mistakes.add_wrong_softmax();
    mistakes.add_wrong_splits(integer(problem.parameters, "splits"));
    mistakes.add_wrong_tiles();
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters)) return {};
    if (auto complaints = complaints_of_lent(evidence); !complaints.empty()) return complaints;
    return complaints_of_memory(problem.parameters, evidence);
  }

  std::vector<SpeedRemark> judge_speed(const Values& parameters,
                                       const CallEvidence& evidence) const override {
    return forfeiting(complaints_of_memory(parameters, evidence));
  }

 private:
  std::vector<Complaint> complaints_of_memory(const Values& parameters,
                                              const CallEvidence& evidence) const {
    if (!evidence.keeps_records) return {};
    const AttentionCase c = read(parameters);
    const std::int64_t splits = integer(parameters, "splits");
    // As the adapter allocates it.
    const auto parts = static_cast<std::uint64_t>(c.shape.rows() * splits);
    const std::uint64_t workspace =
        sizeof(float) * parts * static_cast<std::uint64_t>(c.shape.head_dim + 2) + 1024;
    const std::uint64_t taken = extra_memory(c, evidence);
    if (taken <= workspace + kLibrarySlack) {
      const auto complaint = complaint_of_local_memory(c, splits, evidence);
      return complaint ? std::vector{*complaint} : std::vector<Complaint>();
    }
    return {{"RL0529",
             "the call took device memory beside its workspace" +
                 Evidence{message(": ", taken - workspace, " bytes, __device__ arrays included")},
             "keep the scores of a part in registers or shared memory, and its result, its maximum "
             "and its sum in the workspace"}};
  }
};

ROOFLAB_ORACLE("flash_decode", DecodeOracle)

}  // namespace
}  // namespace rooflab
