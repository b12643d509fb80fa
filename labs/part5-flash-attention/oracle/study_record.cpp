#include "labs/part5-flash-attention/oracle/study_record.h"

namespace rooflab {
namespace {

constexpr double kFloat = 4;

/// Bytes of the first marker; guest/study.cpp knows them, too.
constexpr std::uint64_t kFirstMarkerBytes = 101;

double heads() { return static_cast<double>(kStudyHeads); }

double scores_bytes(int length) { return heads() * kFloat * length * length; }

double matrix_bytes(int length) {
  return heads() * kFloat * length * static_cast<double>(kStudyHeadDim);
}

}  // namespace

std::string name_of(AttentionForm form) {
  return form == AttentionForm::standard ? "standard" : "flash";
}

std::string name_of(AttentionForm form, int length) {
  return name_of(form) + " " + std::to_string(length);
}

double study_flops(int length) {
  constexpr double kFlopsPerMac = 2;
  constexpr double kProducts = 2;
  return kFlopsPerMac * kProducts * heads() * static_cast<double>(kStudyHeadDim) * length * length;
}

std::vector<Term> study_arrays(AttentionForm form, int length) {
  std::vector<Term> arrays{{"one of q, k, v and out", {{"bytes", matrix_bytes(length)}}}};
  const double log_sum_exps = study_array_bytes(form, length) - 4 * matrix_bytes(length);
  if (log_sum_exps > 0) arrays.push_back({"log_sum_exp", {{"bytes", log_sum_exps}}});
  return arrays;
}

double study_array_bytes(AttentionForm form, int length) {
  const double log_sum_exps = form == AttentionForm::flash ? heads() * kFloat * length : 0;
  return 4 * matrix_bytes(length) + log_sum_exps;
}

double study_traffic(AttentionForm form, int length) {
  if (form == AttentionForm::flash) return study_array_bytes(form, length);
  const double scores = 2 * matrix_bytes(length) + scores_bytes(length);
  const double softmax = 2 * scores_bytes(length);
  const double weighted_sum = scores_bytes(length) + 2 * matrix_bytes(length);
  return scores + softmax + weighted_sum;
}

double study_memory(AttentionForm form, int length) {
  const double scores = form == AttentionForm::standard ? scores_bytes(length) : 0;
  return study_array_bytes(form, length) + scores;
}

LeastTraffic least_traffic(AttentionForm form, int length) {
  const double log_sum_exps = study_array_bytes(form, length) - 4 * matrix_bytes(length);
  const double scores = form == AttentionForm::standard ? scores_bytes(length) : 0;
  return {.loaded = 3 * matrix_bytes(length) + scores,
          .stored = matrix_bytes(length) + log_sum_exps + scores};
}

std::map<std::string, RecordedCall> recorded_calls(const simgpu::Activity& activity) {
  std::map<std::string, RecordedCall> calls;
  std::uint64_t marker = kFirstMarkerBytes;
  for (const int length : kStudyLengths) {
    for (const AttentionForm form : kForms) {
      calls[name_of(form, length)] = call_behind_marker(activity, marker++);
    }
  }
  return calls;
}

}  // namespace rooflab
