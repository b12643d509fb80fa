#include "run_mlp.h"

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

__global__ void relu_times(__nv_bfloat16* gate, const __nv_bfloat16* up, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float g = __bfloat162float(gate[i]);
    const float u = __bfloat162float(up[i]);
    gate[i] = __float2bfloat16((g > 0.0f ? g : 0.0f) * u);
  }
}

void relu_mlp(const ReluMlp& m) {
  const int t = m.shape.tokens, h = m.shape.hidden, w = m.shape.intermediate;
  const int n = t * w;
  rooflab::linear(m.cublas, m.x, m.gate_proj, m.gate, t, h, w, nullptr);
  rooflab::linear(m.cublas, m.x, m.up_proj, m.up, t, h, w, nullptr);
  relu_times<<<(n + 127) / 128, 128>>>(m.gate, m.up, n);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear<__nv_bfloat16>(m.cublas, m.gate, m.down_proj, m.out, t, w, h, nullptr);
}

Spread spread_of(const std::vector<double>& numbers) {
  Spread s;
  const double n = numbers.size();
  for (double v : numbers) s.mean += v / n;
  double q = 0;
  for (double v : numbers) q += (v - s.mean) * (v - s.mean);
  if (numbers.size() > 1) s.deviation = std::sqrt(q / (n - 1));
  return s;
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  const auto call = [&] { relu_mlp(mlp); };
  std::vector<double> us;
  for (int run = 0; run < 7; ++run) us.push_back(1000.0 * rooflab::time_ms(call, 1, 3, nullptr));
  const Spread spread = spread_of(us);

  const rooflab::Profile seen = rooflab::profile(call);
  double kernels_us = 0;
  for (const auto& e : seen.events) {
    if (e.kind == rooflab::ProfiledEvent::Kind::kernel) kernels_us += e.duration_us;
  }
  kernels_us /= seen.iterations;

  const GatedMlp g{.tokens = mlp.shape.tokens,
                   .hidden = mlp.shape.hidden,
                   .intermediate = mlp.shape.intermediate,
                   .bytes_per_element = 2,
                   .activation_flops = 1};
  RunReport r;
  r.mean_us = spread.mean;
  r.deviation_us = spread.deviation;
  r.idle_us = spread.mean - kernels_us;
  r.estimate_us = 1e6 * estimate(gated_mlp(g, Fusion::whole), machine).seconds;
  const double four = 1e6 * estimate(gated_mlp(g, Fusion::pointwise), machine).busy_seconds;
  r.intermediates_us = four - r.estimate_us;
  r.rest_us = kernels_us - four;
  return r;
}
