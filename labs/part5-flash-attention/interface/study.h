#pragma once

#include <cublas_v2.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attention_shape.h"
#include "toolkit/cost.h"
#include "toolkit/plot/plot.h"

/// Sequence lengths of the study, and the problem at each of them: one sequence, as many key/value
/// heads as query heads, fp32, no mask, scores scaled by 1 / sqrt(kStudyHeadDim).
inline constexpr std::array<int, 5> kStudyLengths = {256, 512, 1024, 2048, 4096};
inline constexpr int kStudyHeads = 8;
inline constexpr int kStudyHeadDim = 64;

inline AttentionShape study_shape(int length) {
  return {.batch = 1,
          .query_heads = kStudyHeads,
          .key_value_heads = kStudyHeads,
          .query_length = length,
          .key_length = length,
          .head_dim = kStudyHeadDim,
          .causal = false,
          .window = 0,
          .scale = 1.0f / std::sqrt(static_cast<float>(kStudyHeadDim))};
}

/// What the study runs on. The arrays have room for the longest sequence; a shorter one uses the
/// beginning of each, densely packed.
struct StudyDevice {
  std::string name;               ///< of the GPU, for titles
  rooflab::Gpu gpu;               ///< its fp32 peak and its DRAM bandwidth
  rooflab::plot::PointKind kind;  ///< of points that come from its clock
  cublasHandle_t cublas;          ///< ready to use, on the default stream
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  float *out = nullptr, *log_sum_exp = nullptr;
};

/// One form of attention at one length.
struct StudyResult {
  double milliseconds = 0;        ///< of one call, by rooflab::time_ms of toolkit/timing.h
  std::int64_t memory_bytes = 0;  ///< its arrays (q, k, v, out and, for flash attention,
                                  ///< log_sum_exp) and, beside them, rooflab::peak_memory
  std::int64_t kernels = 0;       ///< that one call launches, by rooflab::profile
};

/// Both forms at one length.
struct StudyRow {
  int length = 0;
  StudyResult standard;  ///< your sdpa
  StudyResult flash;     ///< your flash_forward
};

/// Measures both forms at every length of kStudyLengths, in this order, and draws two charts:
///
///   rooflab::plot::write(attention chart, folder / "attention")
///       Latency and memory: in each of its two panels a series "standard" and a series "flash",
///       with the numbers of the rows.
///   rooflab::plot::write(roofline chart, folder / "roofline")
///       One roof, "fp32", and one memory level, "DRAM", those of device.gpu, and eight points: of
///       "standard 256", "flash 256", "standard 4096" and "flash 4096" one PointKind::predicted, at
///       what the roofline lets it attain, and one of device.kind, at the FLOP/s that it reached.
///       Both stand at the form's arithmetic intensity: attention_flops of your io.cpp over the
///       traffic. That is standard_traffic for the one; for the other its arrays, each crossing
///       DRAM once, as if the chip held a whole head.
///
/// Before each timed call there is at least one to warm up. The study must be of attention: the
/// grader calls both functions once more at each length, and alone on arrays of its own, and checks
/// those outputs.
/// @return a row for each length
std::vector<StudyRow> study(const StudyDevice& device, const std::filesystem::path& folder);
