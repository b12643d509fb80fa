#include "labs/part3-decoder/oracle/layer_study_calls.h"

#include "labs/oracle_support/evidence.h"

namespace rooflab {
namespace {

constexpr std::int64_t kText = 128;

constexpr std::int64_t kQueries = kStudyQueryHeads * kStudyHeadDim;
constexpr std::int64_t kKeys = kStudyHeadDim;

std::int64_t first_position(const StudyCall& call) {
  return call.kind == StudyKind::decode ? call.length - 1 : 0;
}

std::int64_t new_tokens(const StudyCall& call) {
  return call.batch * (call.length - first_position(call));
}

/// Query-key pairs of one head, token by token.
std::int64_t pairs(const StudyCall& call) {
  std::int64_t count = 0;
  for (std::int64_t p = first_position(call); p < call.length; ++p) count += p + 1;
  return call.batch * count;
}

}  // namespace

std::string name_of(StudyKind kind) {
  switch (kind) {
    case StudyKind::prefill:
      return "prefill";
    case StudyKind::decode:
      return "decode";
    case StudyKind::decode_without_cache:
      return "decode_without_cache";
  }
  return {};
}

std::vector<std::int64_t> study_lengths() { return {64, 128, 256, 512}; }
std::vector<std::int64_t> study_batches() { return {1, 4, 16}; }

std::vector<StudyCall> study_calls() {
  std::vector<StudyCall> calls;
  int index = 0;
  for (const std::int64_t length : study_lengths()) {
    calls.push_back({StudyKind::prefill, index++, 1, length});
  }
  for (const StudyKind kind : {StudyKind::decode, StudyKind::decode_without_cache}) {
    index = 0;
    for (const std::int64_t batch : study_batches()) calls.push_back({kind, index++, batch, kText});
  }
  return calls;
}

std::string words_of(const StudyCall& call) {
  if (call.kind == StudyKind::prefill) return message("the prefill of ", call.length, " tokens");
  return message("the decode of ", call.batch, call.batch == 1 ? " text" : " texts", " of ",
                 call.length, " tokens ", call.kind == StudyKind::decode ? "with" : "without",
                 " a cache");
}

double cost_macs(const StudyCall& call) {
  const std::int64_t weights =
      2 * kStudyHidden * (kQueries + kKeys) + 3 * kStudyHidden * kStudyIntermediate;
  return static_cast<double>(new_tokens(call) * weights + 2 * kQueries * pairs(call));
}

double least_flops(const StudyCall& call) { return 2 * cost_macs(call); }

double cost_flops(const StudyCall& call) {
  const std::int64_t tokens = new_tokens(call);
  const std::int64_t heads = kStudyQueryHeads + 1;
  const std::int64_t norms =
      tokens * (4 * (5 * kStudyHidden + 3) + heads * (5 * kStudyHeadDim + 3));
  const std::int64_t rotations = tokens * 3 * (kQueries + kKeys);
  const std::int64_t gated = tokens * 9 * kStudyIntermediate;
  const std::int64_t residuals = tokens * 2 * kStudyHidden;
  const std::int64_t softmax = 5 * kStudyQueryHeads * pairs(call);
  return least_flops(call) + static_cast<double>(norms + rotations + gated + residuals + softmax);
}

}  // namespace rooflab
