#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"

namespace rooflab {
namespace {

/// One kernel whose scores are never in memory: the device sees how much memory the call took.
class FlashOracle : public AttentionOracle {
 public:
  FlashOracle() : AttentionOracle(true) {}

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters)) return {};
    return complaints_of_memory(read(problem.parameters), evidence);
  }

  std::vector<SpeedRemark> judge_speed(const Values& parameters,
                                       const CallEvidence& evidence) const override {
    return forfeiting(complaints_of_memory(read(parameters), evidence));
  }

 private:
  static std::vector<Complaint> complaints_of_memory(const AttentionCase& c,
                                                     const CallEvidence& evidence) {
    if (!evidence.keeps_records) return {};
    const std::uint64_t taken = extra_memory(c, evidence);
    if (taken <= kLibrarySlack) {
      const auto complaint = complaint_of_local_memory(c, 1, evidence);
      return complaint ? std::vector{*complaint} : std::vector<Complaint>();
    }
    const std::uint64_t scores = sizeof(float) * static_cast<std::uint64_t>(c.score_count());
    return {
        {"RL0529",
         "the call took device memory" +
             Evidence{message(": ", taken,
                              " bytes, __device__ arrays included; all scores in fp32 "
                              "would be ",
                              scores)},
         "keep the scores of one tile in registers or shared memory, and what each row knows of "
         "the tiles before it: its maximum, its sum and its part of out"}};
  }
};

/// The same with both products on tensor cores.
class TensorCoresOracle : public FlashOracle {
 public:
  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    std::vector<KnownMistake> known = AttentionOracle::mistakes(problem);
    for (KnownMistake& mistake : mistakes_of_fragments(problem)) {
      known.push_back(std::move(mistake));
    }
    return known;
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    std::vector<Complaint> complaints = FlashOracle::judge(problem, evidence);
    if (!judges_structure(problem.parameters) || !evidence.keeps_records) return complaints;
    const auto complaint = complaint_without_tensor_cores(work(problem.parameters), evidence);
    if (complaint) complaints.push_back(*complaint);
    return complaints;
  }
};

ROOFLAB_ORACLE("flash_forward", FlashOracle)
ROOFLAB_ORACLE("flash_tensor_cores", TensorCoresOracle)

}  // namespace
}  // namespace rooflab
