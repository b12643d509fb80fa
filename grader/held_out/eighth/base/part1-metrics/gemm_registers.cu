#include "gemm.h"
#include "toolkit/check.h"

// 256 threads compute 64 x 32 elements of C: each has 4 rows of 2 columns. Its rows are 16 apart
// and its columns are neighbours.
namespace {

constexpr int kRows = 64;
constexpr int kColumns = 32;
constexpr int kStep = 8;
constexpr int kThreads = 256;
constexpr int kRowGap = 16;

__global__ void patches(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[kStep][kRows];  // transposed
  __shared__ float b_tile[kStep][kColumns];
  const int first_row = blockIdx.y * kRows;
  const int first_column = blockIdx.x * kColumns;
  const int my_row = threadIdx.x / 16;
  const int my_column = threadIdx.x % 16 * 2;

  float patch[4][2] = {};
  for (int start = 0; start < K; start += kStep) {
    for (int e = threadIdx.x; e < kRows * kStep; e += kThreads) {
      const int r = e / kStep;
      const int s = e % kStep;
      const bool inside = first_row + r < M && start + s < K;
      a_tile[s][r] = inside ? A[(first_row + r) * K + start + s] : 0.0f;
    }
    for (int e = threadIdx.x; e < kStep * kColumns; e += kThreads) {
      const int s = e / kColumns;
      const int c = e % kColumns;
      const bool inside = start + s < K && first_column + c < N;
      b_tile[s][c] = inside ? B[(start + s) * N + first_column + c] : 0.0f;
    }
    __syncthreads();
    for (int s = 0; s < kStep; ++s) {
      const float b0 = b_tile[s][my_column];
      const float b1 = b_tile[s][my_column + 1];
      for (int p = 0; p < 4; ++p) {
        const float a = a_tile[s][my_row + p * kRowGap];
        patch[p][0] += a * b0;
        patch[p][1] += a * b1;
      }
    }
    __syncthreads();
  }

  for (int p = 0; p < 4; ++p) {
    const int r = first_row + my_row + p * kRowGap;
    if (r >= M) break;
    for (int q = 0; q < 2; ++q) {
      const int c = first_column + my_column + q;
      if (c < N) C[r * N + c] = patch[p][q];
    }
  }
}

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kColumns - 1) / kColumns, (M + kRows - 1) / kRows);
  patches<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
