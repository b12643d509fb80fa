#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "toolkit/cost.h"
#include "toolkit/plot/plot.h"

/// Elements of each array of the sweep: the largest matrix, 8192 x 8192.
inline constexpr std::int64_t kSweepElements = std::int64_t{1} << 26;

/// What the sweep runs on.
struct SweepDevice {
  std::string name;                        ///< of the GPU, for the chart's title
  rooflab::Gpu gpu;                        ///< its fp32 peak and its DRAM bandwidth
  rooflab::plot::PointKind kind;           ///< of the points that come from its clock
  cublasHandle_t cublas;                   ///< ready to use, on the default stream
  const float *x = nullptr, *y = nullptr;  ///< inputs of kSweepElements, on the device
  float* out = nullptr;                    ///< room for kSweepElements
};

/// Draws seven fp32 operations into one roofline, and writes the chart with
/// rooflab::plot::write(chart, folder / "roofline").
///
///   "gemm 1024", "gemm 2048", "gemm 4096", "gemm 8192"
///       the GEMM of two N x N matrices, by rooflab::linear of toolkit/linear.h
///   "gemv 8192"
///       an 8192 x 8192 matrix times one vector: rooflab::linear with one token
///   "scale 2^26", "triad 2^26"
///       the functions of stream.h on 2^26 floats, from your stream.cu
///
/// A GEMM has two matrices and triad has two inputs: use x and y. Both must keep their values;
/// results go to out. Use exactly these labels. The chart has one roof, "fp32", and one memory
/// level, "DRAM", those of device.gpu. Each operation has two points of its label: one
/// PointKind::predicted, at what the roofline lets it attain, and one of device.kind, at the FLOP/s
/// that it reached. Both stand at its arithmetic intensity, with every operand crossing DRAM once.
///
/// Times come from rooflab::time_ms of toolkit/timing.h, each with at least one call to warm up.
/// The model's functions are those of your roofline_model.cpp.
void sweep(const SweepDevice& device, const std::filesystem::path& folder);
