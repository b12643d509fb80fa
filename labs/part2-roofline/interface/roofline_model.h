#pragma once

#include <cstdint>

#include "toolkit/cost.h"

// The roofline model: how fast an operation can be at most, from four numbers.
//
// Units throughout: FLOP/s, B/s, FLOP/B and seconds, never their multiples. A prefix on a data
// sheet is a power of ten: 1 TFLOP/s = 1e12 FLOP/s, 1 GB/s = 1e9 B/s. An operation exactly at a
// ridge point counts as compute-bound.

/// What a vendor prints about a GPU.
struct DataSheet {
  double tflops_per_second = 0;  ///< peak rate for one type, in TFLOP/s
  bool with_sparsity = false;    ///< the rate holds for matrices with two zeros in each four values
  double gb_per_second = 0;      ///< DRAM bandwidth, in GB/s
};

/// The GPU as the roofline model needs it, for dense matrices: hardware that skips the zeros of a
/// sparse matrix does half of the work that its rate counts.
rooflab::Gpu gpu_of(const DataSheet& sheet);

/// The arithmetic intensity at which the GPU's two roofs meet, in FLOP/B.
double ridge_point(const rooflab::Gpu& gpu);

/// The highest rate that an operation of this arithmetic intensity can reach, in FLOP/s.
double attainable(const rooflab::Gpu& gpu, double intensity);

/// The roof that an operation of this arithmetic intensity meets first.
rooflab::Bound bound(const rooflab::Gpu& gpu, double intensity);

/// The least time for an operation of this cost, in seconds.
double least_seconds(const rooflab::Gpu& gpu, const rooflab::Cost& cost);

/// out[i] = f(in_1[i], …, in_inputs[i]): how many FLOPs f may take before arithmetic, and not
/// memory, is what limits it. Every input and the output cross DRAM once.
double crossover_flops(const rooflab::Gpu& gpu, std::int64_t inputs,
                       std::int64_t bytes_per_element);

/// The smallest N for which C = A B with three N x N matrices is compute-bound, each matrix
/// crossing DRAM once.
std::int64_t smallest_compute_bound_gemm(const rooflab::Gpu& gpu, std::int64_t bytes_per_element);

/// A GPU with the cache that lies between its multiprocessors and DRAM.
struct GpuWithL2 {
  rooflab::Gpu dram;               ///< the GPU as if there were no cache
  double l2_bytes_per_second = 0;  ///< bandwidth of the L2 cache
  std::int64_t l2_bytes = 0;       ///< its size
};

/// The highest rate of an operation that runs again and again on the same data, in FLOP/s. What
/// fits into the L2 stays there and does not cross DRAM. What does not fit streams through the L2,
/// and none of it is left there when the next run begins.
double attainable_warm(const GpuWithL2& gpu, const rooflab::Cost& cost);

/// What one implementation moves, level by level. A value that is read from the L2 five times and
/// from DRAM once counts five times and once.
struct Traffic {
  std::int64_t flops = 0;
  std::int64_t l2_bytes = 0;    ///< between the multiprocessors and the L2
  std::int64_t dram_bytes = 0;  ///< between the L2 and DRAM
};

/// The roof of a hierarchical roofline: one slanted roof for each level of memory.
enum class Roof { compute, l2, dram };

/// The roof that limits an implementation with this traffic: the one that takes the longest. Of
/// equal ones, the first in the order of Roof.
Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic);

/// One run of an operation on a GPU.
struct Run {
  rooflab::Cost needed;             ///< what the operation needs, by its formula
  std::int64_t executed_flops = 0;  ///< what the GPU did for it, as a profiler counts: also work
                                    ///< on padding, on masked elements, or done a second time
  double seconds = 0;               ///< on the GPU's clock
};

/// How much of a GPU a run used. Each is a share of a peak: 0.5 is half of it.
struct Utilisation {
  double model_flops = 0;     ///< MFU: needed FLOPs for each second, of the peak
  double hardware_flops = 0;  ///< HFU: executed FLOPs for each second, of the peak
  double bandwidth = 0;       ///< needed bytes for each second, of the DRAM bandwidth
};

/// The shares that this run reached of the two numbers of the GPU.
Utilisation utilisation(const rooflab::Gpu& gpu, const Run& run);
