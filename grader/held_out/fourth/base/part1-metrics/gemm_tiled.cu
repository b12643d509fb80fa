#include "gemm.h"
#include "toolkit/check.h"

namespace {

// A block makes a piece of C with kRows x kColumns elements, one thread for each. Along K it moves
// in steps of kDeep, which is less than either: the tiles are not square.
constexpr int kRows = 8;
constexpr int kColumns = 32;
constexpr int kDeep = 16;
constexpr int kThreads = kRows * kColumns;

struct View {
  const float* start;
  int rows, columns;
  __device__ float at(int r, int c) const {
    return r < rows && c < columns ? start[r * columns + c] : 0.0f;
  }
};

__global__ void tiles(View a, View b, float* c) {
  __shared__ float left[kRows][kDeep];
  __shared__ float right[kDeep][kColumns];
  const int me = threadIdx.x;
  const int top = blockIdx.y * kRows;
  const int side = blockIdx.x * kColumns;
  const int row = me / kColumns;
  const int column = me % kColumns;

  float sum = 0.0f;
  for (int from = 0; from < a.columns; from += kDeep) {
    for (int t = me; t < kRows * kDeep; t += kThreads) {
      left[t / kDeep][t % kDeep] = a.at(top + t / kDeep, from + t % kDeep);
    }
    for (int t = me; t < kDeep * kColumns; t += kThreads) {
      right[t / kColumns][t % kColumns] = b.at(from + t / kColumns, side + t % kColumns);
    }
    __syncthreads();
    for (int d = 0; d < kDeep; ++d) sum += left[row][d] * right[d][column];
    __syncthreads();
  }
  if (top + row < a.rows && side + column < b.columns) {
    c[(top + row) * b.columns + side + column] = sum;
  }
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kColumns - 1) / kColumns, (M + kRows - 1) / kRows);
  tiles<<<grid, kThreads>>>(View{A, M, K}, View{B, K, N}, C);
  CUDA_CHECK(cudaGetLastError());
}
