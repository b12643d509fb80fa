#include "run_mlp.h"

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

namespace {

constexpr int kRuns = 7;
constexpr int kCalls = 3;

__global__ void rectify_and_multiply(__nv_bfloat16* gate, const __nv_bfloat16* up, int count) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float g = __bfloat162float(gate[i]);
    const float product = g > 0.0f ? g * __bfloat162float(up[i]) : 0.0f;
    gate[i] = __float2bfloat16(product);
  }
}

// What the kernels of one call take together.
double kernel_us(const ReluMlp& mlp) {
  const rooflab::Profile seen = rooflab::profile([&] { relu_mlp(mlp); });
  double total = 0;
  for (const rooflab::ProfiledEvent& event : seen.events) {
    if (event.kind == rooflab::ProfiledEvent::Kind::kernel) total += event.duration_us;
  }
  return total / seen.iterations;
}

}  // namespace

void relu_mlp(const ReluMlp& mlp) {
  const int tokens = mlp.shape.tokens, wide = mlp.shape.intermediate, thin = mlp.shape.hidden;
  rooflab::linear(mlp.cublas, mlp.x, mlp.gate_proj, mlp.gate, tokens, thin, wide, nullptr);
  rooflab::linear(mlp.cublas, mlp.x, mlp.up_proj, mlp.up, tokens, thin, wide, nullptr);
  const int count = tokens * wide;
  rectify_and_multiply<<<(count + 511) / 512, 256>>>(mlp.gate, mlp.up, count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(mlp.cublas, mlp.gate, mlp.down_proj, mlp.out, tokens, wide, thin, nullptr);
}

Spread spread_of(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Spread spread;
  for (const double number : numbers) spread.mean += number / count;
  double squares = 0;
  for (const double number : numbers) squares += std::pow(number - spread.mean, 2);
  spread.deviation = numbers.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  return spread;
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  std::vector<double> means;
  for (int run = 0; run < kRuns; ++run) {
    means.push_back(rooflab::time_ms([&] { relu_mlp(mlp); }, 1, kCalls) * 1000);
  }
  const Spread spread = spread_of(means);
  const double kernels = kernel_us(mlp);

  const GatedMlp sizes{.tokens = mlp.shape.tokens,
                       .hidden = mlp.shape.hidden,
                       .intermediate = mlp.shape.intermediate,
                       .bytes_per_element = 2,
                       .activation_flops = 1};
  const Estimate one = estimate(gated_mlp(sizes, Fusion::whole), machine);
  const Estimate four = estimate(gated_mlp(sizes, Fusion::pointwise), machine);

  RunReport report;
  report.mean_us = spread.mean;
  report.deviation_us = spread.deviation;
  report.idle_us = spread.mean - kernels;
  report.estimate_us = one.seconds * 1e6;
  report.intermediates_us = (four.busy_seconds - one.seconds) * 1e6;
  report.rest_us = kernels - four.busy_seconds * 1e6;
  return report;
}
