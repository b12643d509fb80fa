#include "run_mlp.h"

#include <cmath>
#include <numeric>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"
#include "toolkit/vectors.h"

__global__ void relu_times(__nv_bfloat16* gate, const __nv_bfloat16* up, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = fmaxf(__bfloat162float(gate[i]), 0.0f);
  gate[i] = __float2bfloat16(g * __bfloat162float(up[i]));
}

void relu_mlp(const ReluMlp& mlp) {
  const auto [tokens, hidden, intermediate] = mlp.shape;
  const int count = tokens * intermediate;
  rooflab::linear(mlp.cublas, mlp.x, mlp.gate_proj, mlp.gate, tokens, hidden, intermediate,
                  nullptr);
  rooflab::linear(mlp.cublas, mlp.x, mlp.up_proj, mlp.up, tokens, hidden, intermediate, nullptr);
  relu_times<<<divide_up(count, 256), 256>>>(mlp.gate, mlp.up, count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear<__nv_bfloat16>(mlp.cublas, mlp.gate, mlp.down_proj, mlp.out, tokens, intermediate,
                                 hidden, nullptr);
}

Spread spread_of(const std::vector<double>& numbers) {
  Spread s;
  for (double n : numbers) s.mean += n;
  s.mean /= numbers.size();
  double squares = 0;
  for (double n : numbers) squares += (n - s.mean) * (n - s.mean);
  if (numbers.size() > 1) s.deviation = std::sqrt(squares / (numbers.size() - 1));
  return s;
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  std::vector<double> runs;
  for (int r = 0; r < 7; ++r) runs.push_back(1e3 * rooflab::time_ms([&] { relu_mlp(mlp); }, 1, 3));
  const Spread spread = spread_of(runs);

  const rooflab::Schedule schedule{.wait = 1, .warmup = 1, .active = 4};
  const rooflab::Profile seen = rooflab::profile([&] { relu_mlp(mlp); }, schedule);
  double kernels_us = 0;
  for (const auto& e : seen.events) {
    if (e.kind == rooflab::ProfiledEvent::Kind::kernel) kernels_us += e.duration_us;
  }
  kernels_us /= seen.iterations;

  const GatedMlp sizes{.tokens = mlp.shape.tokens,
                       .hidden = mlp.shape.hidden,
                       .intermediate = mlp.shape.intermediate,
                       .bytes_per_element = 2,
                       .activation_flops = 1};
  const double whole_us = 1e6 * estimate(gated_mlp(sizes, Fusion::whole), machine).seconds;
  const double four_us = 1e6 * estimate(gated_mlp(sizes, Fusion::pointwise), machine).busy_seconds;

  RunReport report;
  report.mean_us = spread.mean;
  report.deviation_us = spread.deviation;
  report.idle_us = spread.mean - kernels_us;
  report.estimate_us = whole_us;
  report.intermediates_us = four_us - whole_us;
  report.rest_us = kernels_us - four_us;
  return report;
}
