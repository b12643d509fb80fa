#include "run_mlp.h"

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

__global__ void gate_by_relu(__nv_bfloat16* gate, const __nv_bfloat16* up, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float value = __bfloat162float(gate[i]);
    gate[i] = __float2bfloat16(value > 0.0f ? value * __bfloat162float(up[i]) : 0.0f);
  }
}

void relu_mlp(const ReluMlp& mlp) {
  const MlpShape& s = mlp.shape;
  rooflab::linear(mlp.cublas, mlp.x, mlp.up_proj, mlp.up, s.tokens, s.hidden, s.intermediate,
                  nullptr);
  rooflab::linear(mlp.cublas, mlp.x, mlp.gate_proj, mlp.gate, s.tokens, s.hidden, s.intermediate,
                  nullptr);
  const int count = s.tokens * s.intermediate;
  gate_by_relu<<<(count + 127) / 128, 128>>>(mlp.gate, mlp.up, count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(mlp.cublas, mlp.gate, mlp.down_proj, mlp.out, s.tokens, s.intermediate, s.hidden,
                  nullptr);
}

Spread spread_of(const std::vector<double>& numbers) {
  double mean = 0, squares = 0;
  int count = 0;
  for (const double number : numbers) {
    const double distance = number - mean;
    mean += distance / ++count;
    squares += distance * (number - mean);
  }
  return {mean, count < 2 ? 0.0 : std::sqrt(squares / (count - 1))};
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  std::vector<double> runs;
  for (int run = 0; run < 7; ++run) {
    relu_mlp(mlp);
    rooflab::Event start, stop;
    start.record(nullptr);
    for (int i = 0; i < 3; ++i) relu_mlp(mlp);
    stop.record(nullptr);
    stop.wait();
    runs.push_back(stop.since_ms(start) * 1000 / 3);
  }
  rooflab::Profiler profiler({0, 1, 1});
  for (int i = 0; i < 2; ++i) {
    relu_mlp(mlp);
    profiler.step();
  }
  double kernels = 0;
  for (const auto& event : profiler.finish().events) {
    kernels += event.kind == rooflab::ProfiledEvent::Kind::kernel ? event.duration_us : 0;
  }
  const GatedMlp sizes{mlp.shape.tokens, mlp.shape.hidden, mlp.shape.intermediate, 2, 1};
  const double whole = 1e6 * estimate(gated_mlp(sizes, Fusion::whole), machine).busy_seconds;
  const double apart = 1e6 * estimate(gated_mlp(sizes, Fusion::pointwise), machine).busy_seconds;
  const Spread spread = spread_of(runs);
  return {spread.mean, spread.deviation, spread.mean - kernels,
          whole,       apart - whole,    kernels - apart};
}
