#include "run_mlp.h"

#include <cmath>
#include <numeric>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: relu(gate) * up, a vector for each thread.
namespace {

using bf16 = __nv_bfloat16;

constexpr int kThreads = 256;
constexpr int kVector = rooflab::kVectorSize<bf16>;

// gate (count) becomes relu(gate) * up.
__global__ void relu_product_kernel(bf16* gate, const bf16* up, int count) {
  const int i = (blockIdx.x * kThreads + threadIdx.x) * kVector;
  if (i >= count) return;
  float gates[kVector], ups[kVector];
  rooflab::load(gate + i, count - i, gates);
  rooflab::load(up + i, count - i, ups);
  for (int j = 0; j < kVector; ++j) gates[j] = fmaxf(gates[j], 0.0f) * ups[j];
  rooflab::store(gate + i, count - i, gates);
}

constexpr double kMicrosecondsPerSecond = 1e6;
constexpr double kMicrosecondsPerMillisecond = 1e3;

double estimated_us(const MlpShape& shape, Fusion fusion, const Machine& machine) {
  const GatedMlp mlp = {.tokens = shape.tokens,
                        .hidden = shape.hidden,
                        .intermediate = shape.intermediate,
                        .bytes_per_element = sizeof(bf16),
                        .activation_flops = 1};
  return kMicrosecondsPerSecond * estimate(gated_mlp(mlp, fusion), machine).busy_seconds;
}

// Durations of the kernels of one call.
double kernels_us(const ReluMlp& mlp) {
  const rooflab::Profile seen = rooflab::profile([&] { relu_mlp(mlp); });
  double sum = 0;
  for (const rooflab::ProfiledEvent& event : seen.events) {
    if (event.kind == rooflab::ProfiledEvent::Kind::kernel) sum += event.duration_us;
  }
  return sum / seen.iterations;
}

}  // namespace
// END SOLUTION

void relu_mlp(const ReluMlp& mlp) {
  // BEGIN SOLUTION
  // STARTER: (void)mlp;
  // STARTER: rooflab::todo("call linear for gate and for up, launch your kernel, call linear for out");
  const auto& [tokens, hidden, intermediate] = mlp.shape;
  rooflab::linear(mlp.cublas, mlp.x, mlp.gate_proj, mlp.gate, tokens, hidden, intermediate,
                  nullptr);
  rooflab::linear(mlp.cublas, mlp.x, mlp.up_proj, mlp.up, tokens, hidden, intermediate, nullptr);
  const int count = tokens * intermediate;
  relu_product_kernel<<<divide_up(count, kThreads * kVector), kThreads>>>(mlp.gate, mlp.up, count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(mlp.cublas, mlp.gate, mlp.down_proj, mlp.out, tokens, intermediate, hidden,
                  nullptr);
  // END SOLUTION
}

Spread spread_of(const std::vector<double>& numbers) {
  // BEGIN SOLUTION
  // STARTER: (void)numbers;
  // STARTER: rooflab::todo("the mean first; then the squared distances from it");
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, count > 1 ? std::sqrt(squares / (count - 1)) : 0};
  // END SOLUTION
}

RunReport run_mlp(const ReluMlp& mlp, const Machine& machine) {
  // BEGIN SOLUTION
  // STARTER: (void)mlp;
  // STARTER: (void)machine;
  // STARTER: rooflab::todo("time 7 runs of 3 calls, profile the kernels, estimate twice, and subtract");
  constexpr int kRuns = 7, kCalls = 3;
  std::vector<double> runs;
  for (int i = 0; i < kRuns; ++i) {
    const double ms = rooflab::time_ms([&] { relu_mlp(mlp); }, 1, kCalls);
    runs.push_back(kMicrosecondsPerMillisecond * ms);
  }
  const Spread spread = spread_of(runs);
  const double kernels = kernels_us(mlp);
  const double whole = estimated_us(mlp.shape, Fusion::whole, machine);
  const double four_kernels = estimated_us(mlp.shape, Fusion::pointwise, machine);
  return {.mean_us = spread.mean,
          .deviation_us = spread.deviation,
          .idle_us = spread.mean - kernels,
          .estimate_us = whole,
          .intermediates_us = four_kernels - whole,
          .rest_us = kernels - four_kernels};
  // END SOLUTION
}
