#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rooflab {

/// The layer of the study, as interface/layer_study.h has it: a global one, one key/value head,
/// fp32.
inline constexpr std::int64_t kStudyHidden = 640;
inline constexpr std::int64_t kStudyIntermediate = 2048;
inline constexpr std::int64_t kStudyQueryHeads = 4;
inline constexpr std::int64_t kStudyHeadDim = 256;

enum class StudyKind { prefill, decode, decode_without_cache };

/// By the adapter's name: "decode_without_cache".
std::string name_of(StudyKind kind);

/// One call that a study measures.
struct StudyCall {
  StudyKind kind;
  int index;  ///< of its row, among those of its kind
  std::int64_t batch, length;
};

/// All of them, in the order of the rows.
std::vector<StudyCall> study_calls();
std::vector<std::int64_t> study_lengths();
std::vector<std::int64_t> study_batches();

/// "the decode of 4 texts of 256 tokens without a cache".
std::string words_of(const StudyCall& call);

/// What interface/cost.h counts, and of that only the GEMMs and the two multiplications of
/// attention.
double cost_flops(const StudyCall& call);
double cost_macs(const StudyCall& call);
double least_flops(const StudyCall& call);

}  // namespace rooflab
