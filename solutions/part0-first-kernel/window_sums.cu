#include "window_sums.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a block of threads adds up as many windows.
constexpr int kThreads = 256;

__global__ void window_sums_kernel(const float* x, float* y, int n) {
  // The block's elements, with kRadius further ones on either side: tile[t] is x[first + t].
  __shared__ float tile[kThreads + 2 * kRadius];
  const int first = blockIdx.x * kThreads - kRadius;
  for (int t = threadIdx.x; t < kThreads + 2 * kRadius; t += kThreads) {
    const int i = first + t;
    tile[t] = i >= 0 && i < n ? x[i] : 0.0f;
  }
  __syncthreads();  // every thread reads what others have loaded

  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int d = 0; d <= 2 * kRadius; ++d) sum += tile[threadIdx.x + d];
  y[i] = sum;
}
// END SOLUTION

void window_sums(const float* x, float* y, int n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many elements of x does a block of 256 windows need?");
  const int blocks = (n + kThreads - 1) / kThreads;
  window_sums_kernel<<<blocks, kThreads>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
