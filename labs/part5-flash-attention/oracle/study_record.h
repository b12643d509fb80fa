#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "labs/oracle_support/recorded_calls.h"
#include "labs/oracle_support/wrong_results.h"

namespace rooflab {

/// The study's problem, as interface/study.h has it.
inline constexpr int kStudyLengths[] = {256, 512, 1024, 2048, 4096};
inline constexpr std::int64_t kStudyHeads = 8;
inline constexpr std::int64_t kStudyHeadDim = 64;

enum class AttentionForm { standard, flash };
inline constexpr AttentionForm kForms[] = {AttentionForm::standard, AttentionForm::flash};
std::string name_of(AttentionForm form);
/// "flash 4096".
std::string name_of(AttentionForm form, int length);

/// FLOPs of both products, without a mask.
double study_flops(int length);
/// Bytes of the arrays of a call: q, k, v, out and, for flash attention, log_sum_exp.
double study_array_bytes(AttentionForm form, int length);
/// Each of them, by what it adds to "bytes".
std::vector<Term> study_arrays(AttentionForm form, int length);
/// Bytes that the roofline counts: three kernels with the scores between them, or every array once.
double study_traffic(AttentionForm form, int length);
/// Device memory of a call: its arrays and, for standard attention, the scores.
double study_memory(AttentionForm form, int length);

/// Bytes that the kernels of a call at least ask of global memory: flash attention loads q, k and v
/// and stores its outputs; standard attention stores the scores, too, and loads them again.
struct LeastTraffic {
  double loaded, stored;
};
LeastTraffic least_traffic(AttentionForm form, int length);

/// The calls that the adapter makes behind the study, one of each form and length, each behind a
/// fill of a length of its own. A call that is not there has no kernels.
std::map<std::string, RecordedCall> recorded_calls(const simgpu::Activity& activity);

}  // namespace rooflab
