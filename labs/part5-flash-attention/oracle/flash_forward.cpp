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
    if (!evidence.keeps_records || !judges_structure(problem.parameters)) return {};
    const AttentionCase c = read(problem.parameters);
    const std::uint64_t taken = extra_memory(problem, evidence);
    if (taken <= kLibrarySlack) return {};
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

ROOFLAB_ORACLE("flash_forward", FlashOracle)

}  // namespace
}  // namespace rooflab
