#include "scaled_sum.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: one thread for each element.
namespace {

constexpr int kThreads = 256;

__global__ void scaled_sum_kernel(const float* x, const float* y, float s, float* out,
                                  std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[i] = s * x[i] + y[i];
}

}  // namespace
// END SOLUTION

void scaled_sum(const float* x, const float* y, float s, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write a kernel that gives each element a thread, and launch it");
  const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  scaled_sum_kernel<<<blocks, kThreads>>>(x, y, s, out, n);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
