// Products of many 32 x 32 matrices with one 32 x 32 matrix: out = m c^T, a block for each.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int N = 32;

__global__ __launch_bounds__(N * 8) void multiply_all(const float* matrices, const float* c,
                                                      float* out) {
  __shared__ float m[N][N];
  __shared__ float fixed[N][N];
  const int x = threadIdx.x, y = threadIdx.y;
  const float* mine = matrices + blockIdx.x * N * N;
  for (int r = y; r < N; r += 8) {
    m[r][x] = mine[r * N + x];
    fixed[r][x] = c[r * N + x];
  }
  __syncthreads();

  float sum[4] = {};
  for (int k = 0; k < N; ++k) {
    const float factor = fixed[x][k];
#pragma unroll
    for (int s = 0; s < 4; ++s) sum[s] += m[y + 8 * s][k] * factor;
  }
  for (int s = 0; s < 4; ++s) out[blockIdx.x * N * N + (y + 8 * s) * N + x] = sum[s];
}

int main() {
  const int count = 150;
  std::vector<float> matrices(count * N * N), c(N * N), out(count * N * N);
  for (size_t i = 0; i < matrices.size(); ++i) matrices[i] = (i * 7 % 23) * 0.1f;
  for (int i = 0; i < N * N; ++i) c[i] = (i * 5 % 17) * 0.1f;
  float *dm, *dc, *dout;
  cudaMalloc(&dm, matrices.size() * 4);
  cudaMalloc(&dc, c.size() * 4);
  cudaMalloc(&dout, out.size() * 4);
  cudaMemcpy(dm, matrices.data(), matrices.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * 4, cudaMemcpyHostToDevice);
  multiply_all<<<count, dim3(N, 8)>>>(dm, dc, dout);
  int wrong = cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int b = 0; b < count; ++b)
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += matrices[(b * N + i) * N + k] * c[j * N + k];
        wrong += std::fabs(out[(b * N + i) * N + j] - sum) > 1e-3;
      }
  cudaFree(dm); cudaFree(dc); cudaFree(dout);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
