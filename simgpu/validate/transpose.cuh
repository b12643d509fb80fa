#pragma once

/// Transposes of square matrices.
namespace validate {

/// Reads along rows and writes along columns.
__global__ void transpose_naive(const float* in, float* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  out[column * n + row] = in[row * n + column];
}

/// Through a tile in shared memory; without padding the 32 rows of a column share a bank.
template <int kPadding>
__global__ void transpose_tiled(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPadding];
  const int from = blockIdx.x * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += 8) {
    tile[i][threadIdx.x] = in[(blockIdx.y * 32 + i) * n + from];
  }
  __syncthreads();
  const int to = blockIdx.y * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += 8) {
    out[(blockIdx.x * 32 + i) * n + to] = tile[threadIdx.x][i];
  }
}

}  // namespace validate
