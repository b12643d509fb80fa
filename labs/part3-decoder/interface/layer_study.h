#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "cost.h"
#include "layer.h"
#include "toolkit/plot/plot.h"

/// What is measured: the prefill of one prompt of each of these lengths, and the decode of one
/// token for each of these batches, whose texts have kStudyText tokens with the new one.
inline constexpr std::array kStudyLengths = {64, 128, 256, 512};
inline constexpr std::array kStudyBatches = {1, 4, 16};
inline constexpr int kStudyText = 128;

/// The layer of the study, as cost.h counts it: a global one of Gemma 3 270M, in fp32.
/// @hideinitializer
inline constexpr DecoderLayer kStudyLayer = {.hidden = 640,
                                             .intermediate = 2048,
                                             .query_heads = 4,
                                             .key_value_heads = 1,
                                             .head_dim = 256,
                                             .window = 0,
                                             .bytes_per_element = sizeof(float)};

/// What the study runs on. The arrays have room for every call of it; a call uses the beginning of
/// each.
struct LayerStudyDevice {
  std::string name;               ///< of the GPU, for titles
  rooflab::Gpu gpu;               ///< its fp32 peak and its DRAM bandwidth
  rooflab::plot::PointKind kind;  ///< modelled on a simulated GPU, else measured
  LayerContext context;           ///< as your layer gets it
  LayerShape shape;               ///< kStudyLayer
  LayerWeights<float> weights;    //
  float* hidden = nullptr;        ///< what it holds does not matter
  const int* positions =
      nullptr;           ///< 0, 1, 2, ...: that of the token at position p is positions + p
  KvCache<float> cache;  ///< for kStudyBatches' largest batch, full of earlier tokens
};

/// One call of the layer.
struct LayerStudyRow {
  int batch = 0;
  int length = 0;                ///< of each text, with its new tokens
  double milliseconds = 0;       ///< of one call, by rooflab::time_ms of toolkit/timing.h
  double tokens_per_second = 0;  ///< new ones, of all sequences: batch * length of a prefill, batch
                                 ///< of a decode, with or without a cache
  double utilisation = 0;        ///< of the model's FLOPs (MFU): those of the call, by your cost.h,
                                 ///< over what the fp32 peak would do in that time; 1 is all of it
};

struct LayerStudy {
  std::vector<LayerStudyRow> prefill;               ///< for each of kStudyLengths, batch 1
  std::vector<LayerStudyRow> decode;                ///< for each of kStudyBatches
  std::vector<LayerStudyRow> decode_without_cache;  ///< likewise
};

/// Measures your layer with prefill_forward, decode_forward and decode_without_cache_forward, in
/// the order above, and draws two charts from the rows' milliseconds:
///
///   rooflab::plot::write(chart of prefill, folder / "prefill")
///       x: the lengths; one series, "prefill"
///   rooflab::plot::write(chart of decode, folder / "decode")
///       x: the batches; two series, "with a cache" and "without a cache"
///
/// Let rooflab::time_ms take each time, with at least one call before it to warm up: the grader
/// holds it against the device's own record. Decode without a cache runs all tokens of its texts
/// through the layer, so its FLOPs are those of a prefill. A study is of a layer that works: the
/// grader also compares what your layer makes of a prompt.
LayerStudy layer_study(const LayerStudyDevice& device, const std::filesystem::path& folder);
