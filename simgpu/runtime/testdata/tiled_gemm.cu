#include <cmath>
#include <vector>

#include "check.h"

constexpr int kTile = 16;

__global__ void tiled_gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const int inner_a = first + threadIdx.x, inner_b = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && inner_a < k ? a[row * k + inner_a] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = inner_b < k && column < n ? b[inner_b * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
  const int m = 45, n = 70, k = 33;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>((i * 7919) % 1000) / 1000.0f - 0.5f;
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>((i * 104729) % 1000) / 1000.0f - 0.5f;
  float *on_a, *on_b, *on_c;
  CHECK(cudaMalloc(&on_a, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&on_b, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&on_c, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(on_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), block(kTile, kTile);
  tiled_gemm<<<grid, block>>>(on_a, on_b, on_c, m, n, k);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), on_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double expected = 0, magnitude = 0;
      for (int i = 0; i < k; ++i) {
        const double product = static_cast<double>(a[row * k + i]) * b[i * n + column];
        expected += product;
        magnitude += std::fabs(product);
      }
      // k products and sums, each rounded to 24 bits.
      EXPECT(std::fabs(c[row * n + column] - expected) <= k * 6e-8 * magnitude);
    }
  }
  CHECK(cudaFree(on_a));
  CHECK(cudaFree(on_b));
  CHECK(cudaFree(on_c));
  std::printf("product is right\n");
}
