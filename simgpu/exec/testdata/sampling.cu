/// Grids of many blocks, for the test of block sampling: each kernel reuses memory in a way of its
/// own.

#define KERNEL extern "C" __global__ void

KERNEL copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

KERNEL triad4(const float4* b, const float4* c, float4* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = b[i], y = c[i];
  a[i] = {x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w};
}

KERNEL grid_stride(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i] * 2;
  }
}

KERNEL strided(const float* in, float* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

/// Every block of a column reads the same piece of `in`: it comes from L2, if that is large enough.
KERNEL scale_rows(const float* in, const float* scale, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width) out[blockIdx.y * width + x] = in[x] * scale[blockIdx.y];
}

KERNEL naive_gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

constexpr int kTile = 16;

/// Computes the tile of c at a row and a column of tiles.
__device__ void multiply_tile(int tile_row, int tile_column, const float* a, const float* b,
                              float* c, int m, int n, int k) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = tile_row * kTile + ty;
  const int column = tile_column * kTile + tx;
  float sum = 0;
  for (int t = 0; t < k; t += kTile) {
    as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0;
    bs[ty][tx] = column < n && t + ty < k ? b[(t + ty) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

KERNEL tiled_gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  multiply_tile(blockIdx.y, blockIdx.x, a, b, c, m, n, k);
}

/// Tiles in one row of blocks, those of a row of c side by side.
KERNEL flat_gemm_by_rows(const float* a, const float* b, float* c, int m, int n, int k) {
  const int columns = (n + kTile - 1) / kTile;
  multiply_tile(blockIdx.x / columns, blockIdx.x % columns, a, b, c, m, n, k);
}

/// The same with those of a column of c side by side.
KERNEL flat_gemm_by_columns(const float* a, const float* b, float* c, int m, int n, int k) {
  const int rows = (m + kTile - 1) / kTile;
  multiply_tile(blockIdx.x % rows, blockIdx.x / rows, a, b, c, m, n, k);
}

/// One block a row.
KERNEL gemv(const float* a, const float* x, float* y, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[blockIdx.x * n + i] * x[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < blockDim.x / 32; ++warp) sum += partial[warp];
  y[blockIdx.x] = sum;
}

KERNEL block_sums(const float* in, float* sums, int n) {
  extern __shared__ float values[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) values[threadIdx.x] += values[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = values[0];
}

/// Five points; the grid's rim has fewer neighbours.
KERNEL stencil(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 4 * in[y * width + x];
  if (x > 0) sum += in[y * width + x - 1];
  if (x + 1 < width) sum += in[y * width + x + 1];
  if (y > 0) sum += in[(y - 1) * width + x];
  if (y + 1 < height) sum += in[(y + 1) * width + x];
  out[y * width + x] = sum;
}

/// Later blocks have more to do.
KERNEL triangle(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i <= blockIdx.x; ++i) sum += in[i * blockDim.x + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// One block in a hundred has far more to do, and nothing in its neighbours tells.
KERNEL now_and_then(const float* in, float* out) {
  const int turns = blockIdx.x * 2654435761u % 100 == 7 ? 1000 : 10;
  float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int i = 0; i < turns; ++i) sum = sum * 0.5f + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Two blocks store to most tiles, which are so far apart in the grid that few blocks tell.
KERNEL store_tiles_twice(float* out, int tile_size) {
  const int tile = static_cast<int>(blockIdx.y) + 8 - 8 * static_cast<int>(blockIdx.z) +
                   88 * static_cast<int>(blockIdx.x);
  float value = tile;
  for (int i = 0; i < 300; ++i) asm volatile("add.f32 %0, %0, %0;" : "+f"(value));
  for (int i = threadIdx.x; i < tile_size; i += blockDim.x) out[tile * tile_size + i] = value;
}

KERNEL gather(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

/// All blocks in one: the sum depends on every one of them.
KERNEL count_blocks(int* count) {
  if (threadIdx.x == 0) atomicAdd(count, 1);
}

/// Blocks wait for the one before them, without an atomic.
KERNEL pass_on(volatile int* flags) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
  }
  flags[blockIdx.x] = 1;
}

/// Warps take turns, but for those of the first block, which all work in the first of them.
KERNEL take_turns(float* out, int turns) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  float value = warp;
  for (int turn = 0; turn < static_cast<int>(blockDim.x) / 32; ++turn) {
    if (turn == (blockIdx.x == 0 ? 0 : warp)) {
      for (int i = 0; i < turns; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(value));
    }
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
