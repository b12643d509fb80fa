#pragma once

/// Products of square matrices in fp32, C = A B, in the steps in which a first kernel becomes a
/// fast one. Sizes are multiples of every tile, so that no kernel has a ragged edge.
namespace validate {

/// One thread per element of C; neighbouring threads take neighbouring ROWS, so that a warp reads
/// 32 rows of A at once.
__global__ void gemm_uncoalesced(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

/// The same with neighbouring threads on neighbouring columns.
__global__ void gemm_coalesced(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

/// Square tiles of A and B in shared memory, one element of C for each thread.
template <int kTile>
__global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kTile; ++step) {
      sum += tile_a[threadIdx.y][step] * tile_b[step][threadIdx.x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// Tiles of 16 x 16 threads, each with 2 x 2 neighbouring elements of C.
__global__ void gemm_two_by_two(const float* a, const float* b, float* c, int n) {
  constexpr int kTile = 16;
  __shared__ float tile_a[2 * kTile][kTile];
  __shared__ float tile_b[kTile][2 * kTile];
  const int row = 2 * (blockIdx.y * kTile + threadIdx.y);
  const int column = 2 * (blockIdx.x * kTile + threadIdx.x);
  float sums[2][2] = {};
  for (int k = 0; k < n; k += kTile) {
    for (int i = 0; i < 2; ++i) {
      tile_a[2 * threadIdx.y + i][threadIdx.x] = a[(row + i) * n + k + threadIdx.x];
      tile_b[threadIdx.y][2 * threadIdx.x + i] = b[(k + threadIdx.y) * n + column + i];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kTile; ++step) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          sums[i][j] += tile_a[2 * threadIdx.y + i][step] * tile_b[step][2 * threadIdx.x + j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) c[(row + i) * n + column + j] = sums[i][j];
  }
}

/// kRows x kColumns elements of C for each thread, one below and beside the other; tiles of
/// kTileRows x kDepth and kDepth x kTileColumns.
template <int kTileRows, int kTileColumns, int kDepth, int kRows, int kColumns>
__global__ void __launch_bounds__(kTileRows* kTileColumns / (kRows * kColumns))
    gemm_registers(const float* a, const float* b, float* c, int n) {
  constexpr int kThreads = kTileRows * kTileColumns / (kRows * kColumns);
  __shared__ float tile_a[kTileRows * kDepth];
  __shared__ float tile_b[kDepth * kTileColumns];
  const int first_row = threadIdx.x / (kTileColumns / kColumns) * kRows;
  const int first_column = threadIdx.x % (kTileColumns / kColumns) * kColumns;
  a += blockIdx.y * kTileRows * n;
  b += blockIdx.x * kTileColumns;
  c += blockIdx.y * kTileRows * n + blockIdx.x * kTileColumns;
  float sums[kRows][kColumns] = {};
  float from_a[kRows];
  float from_b[kColumns];
  for (int k = 0; k < n; k += kDepth) {
    for (int i = threadIdx.x; i < kTileRows * kDepth; i += kThreads) {
      tile_a[i] = a[i / kDepth * n + i % kDepth];
    }
    for (int i = threadIdx.x; i < kDepth * kTileColumns; i += kThreads) {
      tile_b[i] = b[i / kTileColumns * n + i % kTileColumns];
    }
    __syncthreads();
    a += kDepth;
    b += kDepth * n;
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      for (int i = 0; i < kRows; ++i) from_a[i] = tile_a[(first_row + i) * kDepth + step];
      for (int j = 0; j < kColumns; ++j) from_b[j] = tile_b[step * kTileColumns + first_column + j];
      for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kColumns; ++j) sums[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) c[(first_row + i) * n + first_column + j] = sums[i][j];
  }
}

/// Four floats at a time from and to global memory, and A's tile transposed, so that what a thread
/// reads of it lies side by side. 128 x 128 tiles, 8 x 8 elements for each of 256 threads.
template <int kDepth>
__global__ void __launch_bounds__(256)
    gemm_vectors(const float* a, const float* b, float* c, int n) {
  constexpr int kTile = 128;
  constexpr int kEdge = 8;
  __shared__ float tile_a[kDepth * kTile];
  __shared__ float tile_b[kDepth * kTile];
  const int first_row = threadIdx.x / (kTile / kEdge) * kEdge;
  const int first_column = threadIdx.x % (kTile / kEdge) * kEdge;
  a += blockIdx.y * kTile * n;
  b += blockIdx.x * kTile;
  c += blockIdx.y * kTile * n + blockIdx.x * kTile;
  float sums[kEdge][kEdge] = {};
  float from_a[kEdge];
  float from_b[kEdge];
  for (int k = 0; k < n; k += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 4; i += 256) {
      const int row = i / (kDepth / 4);
      const int column = i % (kDepth / 4) * 4;
      const float4 four = *reinterpret_cast<const float4*>(a + row * n + column);
      tile_a[(column + 0) * kTile + row] = four.x;
      tile_a[(column + 1) * kTile + row] = four.y;
      tile_a[(column + 2) * kTile + row] = four.z;
      tile_a[(column + 3) * kTile + row] = four.w;
    }
    for (int i = threadIdx.x; i < kTile * kDepth / 4; i += 256) {
      const int row = i / (kTile / 4);
      const int column = i % (kTile / 4) * 4;
      *reinterpret_cast<float4*>(tile_b + row * kTile + column) =
          *reinterpret_cast<const float4*>(b + row * n + column);
    }
    __syncthreads();
    a += kDepth;
    b += kDepth * n;
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      for (int i = 0; i < kEdge; ++i) from_a[i] = tile_a[step * kTile + first_row + i];
      for (int j = 0; j < kEdge; ++j) from_b[j] = tile_b[step * kTile + first_column + j];
      for (int i = 0; i < kEdge; ++i) {
        for (int j = 0; j < kEdge; ++j) sums[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kEdge; ++i) {
    for (int j = 0; j < kEdge; j += 4) {
      *reinterpret_cast<float4*>(c + (first_row + i) * n + first_column + j) =
          make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
  }
}

}  // namespace validate
