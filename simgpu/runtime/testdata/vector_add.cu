#include <vector>

#include "check.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// A size over the one-megabyte chunk of a copy, and no multiple of the block.
int main() {
  const int n = 1'000'003;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.25f * static_cast<float>(i);
    b[i] = 1.0f - static_cast<float>(i);
  }
  const size_t bytes = n * sizeof(float);
  float *on_a, *on_b, *on_c;
  CHECK(cudaMalloc(&on_a, bytes));
  CHECK(cudaMalloc(&on_b, bytes));
  CHECK(cudaMalloc(&on_c, bytes));
  CHECK(cudaMemcpy(on_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_b, b.data(), bytes, cudaMemcpyHostToDevice));
  vector_add<<<(n + 255) / 256, 256>>>(on_a, on_b, on_c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), on_c, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(c[i] == a[i] + b[i]);
  CHECK(cudaFree(on_a));
  CHECK(cudaFree(on_b));
  CHECK(cudaFree(on_c));
  std::printf("all %d sums are right\n", n);
}
