#include "run_mlp.h"

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

__global__ void rectify(__nv_bfloat16* gate, const __nv_bfloat16* up, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float open = fmaxf(__bfloat162float(gate[i]), 0.0f);
  gate[i] = __float2bfloat16(open * __bfloat162float(up[i]));
}

void relu_mlp(const ReluMlp& mlp) {
  const auto [tokens, hidden, intermediate] = mlp.shape;
  rooflab::linear(mlp.cublas, mlp.x, mlp.gate_proj, mlp.gate, tokens, hidden, intermediate,
                  nullptr);
  rooflab::linear(mlp.cublas, mlp.x, mlp.up_proj, mlp.up, tokens, hidden, intermediate, nullptr);
  const int count = tokens * intermediate;
  rectify<<<(count + 255) / 256, 256>>>(mlp.gate, mlp.up, count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(mlp.cublas, mlp.gate, mlp.down_proj, mlp.out, tokens, intermediate, hidden,
                  nullptr);
}

Spread spread_of(const std::vector<double>& numbers) {
  const double count = static_cast<double>(numbers.size());
  Spread spread;
  for (const double number : numbers) spread.mean += number / count;
  if (numbers.size() == 1) return spread;
  double squares = 0.0;
  for (const double number : numbers) squares += std::pow(number - spread.mean, 2);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  const auto call = [&] { relu_mlp(mlp); };
  std::vector<double> runs_us;
  for (int run = 0; run < 7; ++run) runs_us.push_back(1000.0 * rooflab::time_ms(call, 1, 3));
  const Spread spread = spread_of(runs_us);

  const rooflab::Profile seen = rooflab::profile(call, {.wait = 1, .warmup = 1, .active = 4});
  double kernels_us = 0.0;
  for (const rooflab::ProfiledEvent& event : seen.events) {
    if (event.kind == rooflab::ProfiledEvent::Kind::kernel) kernels_us += event.duration_us / 4;
  }

  GatedMlp sizes;
  sizes.tokens = mlp.shape.tokens;
  sizes.hidden = mlp.shape.hidden;
  sizes.intermediate = mlp.shape.intermediate;
  sizes.bytes_per_element = 2;
  sizes.activation_flops = 1;
  const double whole_us = 1e6 * estimate(gated_mlp(sizes, Fusion::whole), machine).busy_seconds;
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
