#pragma once

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <vector>

#include "estimator.h"
#include "mlp_shape.h"

// The MLP whose time the page estimates, run: a gated MLP in bf16 with ReLU.
//
//   gate    = x gate_proj^T                  (tokens, intermediate)
//   up      = x up_proj^T                    (tokens, intermediate)
//   product = relu(gate) * up                (tokens, intermediate)
//   out     = product down_proj^T            (tokens, hidden)

/// Its arrays, in device memory, dense and row-major; no two overlap.
struct ReluMlp {
  cublasHandle_t cublas;
  const __nv_bfloat16* x;          // (tokens, hidden)
  const __nv_bfloat16* gate_proj;  // (intermediate, hidden)
  const __nv_bfloat16* up_proj;    // (intermediate, hidden)
  const __nv_bfloat16* down_proj;  // (hidden, intermediate)
  __nv_bfloat16* gate;             // (tokens, intermediate): yours to write, and up as well
  __nv_bfloat16* up;               // (tokens, intermediate)
  __nv_bfloat16* out;              // (tokens, hidden)
  MlpShape shape;
};

/// One call of the MLP in four kernels, on the default stream, without waiting: three products by
/// rooflab::linear of toolkit/linear.h, and one kernel of yours that stores relu(gate) * up,
/// rounded once, in the place of gate. gate and up have been rounded to bf16 by then.
void relu_mlp(const ReluMlp& mlp);

/// Mean and sample standard deviation: the root of the sum of squared distances from the mean over
/// (count - 1); 0 of a single number. Both in the unit of the numbers.
struct Spread {
  double mean = 0;
  double deviation = 0;
};

/// @param numbers at least one
Spread spread_of(const std::vector<double>& numbers);

/// Where the time of a call goes. idle, estimate, intermediates and rest add up to the mean.
struct RunReport {
  double mean_us = 0;           ///< of one call: below
  double deviation_us = 0;      ///< of the runs' means
  double idle_us = 0;           ///< the mean less what its kernels take: nothing runs
  double estimate_us = 0;       ///< the whole MLP as one kernel, at the roofs
  double intermediates_us = 0;  ///< busy seconds of the four kernels at the roofs, less estimate_us
  double rest_us = 0;  ///< what the kernels take beyond both: they do not reach their roofs
};

/// Runs the MLP and takes its time apart.
///
/// The mean is that of 7 runs, each of which times 3 calls that follow one another with
/// rooflab::time_ms (toolkit/timing.h) after one call to warm up. What the kernels take is the sum
/// of their durations in a profile (rooflab::profile) of calls of relu_mlp, for one call.
///
/// Estimates are those of your estimator.h: estimate(gated_mlp(...), machine), with Fusion::whole
/// for estimate_us and Fusion::pointwise for the four kernels, 2 bytes for each element and one
/// FLOP for each ReLU. estimator.cpp is linked with this file.
///
/// @param machine its seconds_per_launch and l2_bytes are 0
RunReport run_mlp(const ReluMlp& mlp, const Machine& machine);
