#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"

namespace rooflab {
namespace {

/// Three steps, whose scores are in memory as a whole: the device sees how much memory that is.
class SdpaOracle : public AttentionOracle {
 public:
  SdpaOracle() : AttentionOracle(false) {}

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters)) return {};
    if (auto complaints = complaints_of_lent(evidence); !complaints.empty()) return complaints;
    if (!evidence.keeps_records) return {};
    const AttentionCase c = read(problem.parameters);
    const auto count = static_cast<std::uint64_t>(c.score_count());
    const std::uint64_t scores = sizeof(float) * count;
    const std::uint64_t weights = c.type == ElementType::float32 ? 0 : size_of(c.type) * count;
    const std::uint64_t taken = extra_memory(c, evidence);
    if (taken < scores) {
      return {{"RL0530",
               "the scores are never in memory as a whole" +
                   Evidence{
                       message(": they are ", scores, " bytes in fp32, and the call took ", taken)},
               "this task is about what standard attention costs: compute all scores, then their "
               "softmax, then the product with v"}};
    }
    if (taken > scores + weights + kLibrarySlack) {
      return {{"RL0531",
               "the call took more memory than the scores and the weights need" +
                   Evidence{message(": ", taken, " bytes, of which the scores need ", scores,
                                    " and the weights ", weights, " more")},
               "allocate the scores once, let the softmax work in place where T is float, and read "
               "the keys of a group where they are instead of copying them for each query head"}};
    }
    const double stored = bytes_stored(evidence.activity);
    if (const auto least = static_cast<double>(size_of(c.type) * count); stored < least) {
      return {
          {"RL0530",
           "the softmax of the scores is never in memory as a whole" +
               Evidence{
                   message(": the weights are ", least, " bytes, and kernels stored ", stored)},
           "compute all scores, then their softmax, in place or as T, then the product with v"}};
    }
    return complaints_of_calls(evidence.activity);
  }

 private:
  /// By kernels of the submission: of the library's, those that are not run store nothing.
  static double bytes_stored(const simgpu::Activity& activity) {
    double bytes = 0;
    for (const simgpu::KernelRecord& kernel : activity.kernels) {
      if (!kernel.library_routine) bytes += static_cast<double>(kernel.counters.global_store_bytes);
    }
    return bytes;
  }

  /// Room that is not taken and given back in the order of the stream makes the host wait for it.
  static std::vector<Complaint> complaints_of_calls(const simgpu::Activity& activity) {
    for (const char* function : {"cudaMalloc", "cudaFree"}) {
      if (!activity.api_calls.contains(function)) continue;
      return {{"RL0539",
               "the scores are not taken and given back on the stream" +
                   Evidence{message(": the call calls ", function)},
               "cudaMallocAsync takes them behind what the stream has to do before, and "
               "cudaFreeAsync gives them back behind the last kernel that reads them: the host "
               "waits for neither"}};
    }
    return {};
  }
};

ROOFLAB_ORACLE("sdpa", SdpaOracle)

}  // namespace
}  // namespace rooflab
