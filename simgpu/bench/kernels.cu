/// The kernels the engine's speed is stated for: what students write in the first part, and
/// products on tensor cores as in the last.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

constexpr int kTile = 32;

extern "C" __global__ void tiled_sgemm(const float* a, const float* b, float* c, int m, int n,
                                       int k) {
  __shared__ float as[kTile][kTile];
  __shared__ float bs[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int column = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int t = 0; t < (k + kTile - 1) / kTile; ++t) {
    as[ty][tx] = row < m && t * kTile + tx < k ? a[row * k + t * kTile + tx] : 0.0f;
    bs[ty][tx] = column < n && t * kTile + ty < k ? b[(t * kTile + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void naive_sgemm(const float* a, const float* b, float* c, int m, int n,
                                       int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

/// Causal attention of one head a grid row, as in exec/testdata/attention.cu but for one purpose:
/// query tiles of 64 rows, key tiles of 32 in shared memory, a warp for 16 rows. (heads, length, d)
template <int d>
__device__ void flash(const float* q, const float* k, const float* v, float* out, int length) {
  constexpr int kRows = 64, kKeys = 32, kOwn = kRows / 4, kColumns = d / 32;
  __shared__ float keys[kKeys][d + 1], values[kKeys][d], weights[4][kKeys];
  extern __shared__ float queries[];  // (kRows, d)
  const int lane = threadIdx.x, warp = threadIdx.y, thread = warp * 32 + lane;
  const int first = blockIdx.x * kRows;
  const long head = static_cast<long>(blockIdx.y) * length * d;
  for (int i = thread; i < kRows * d; i += 128) queries[i] = q[head + first * d + i];
  float most[kOwn], total[kOwn], acc[kOwn][kColumns];
  for (int r = 0; r < kOwn; ++r) {
    most[r] = -1e30f;
    total[r] = 0;
    for (int c = 0; c < kColumns; ++c) acc[r][c] = 0;
  }
  for (int j = 0; j < first + kRows; j += kKeys) {
    __syncthreads();
    for (int i = thread; i < kKeys * d; i += 128) {
      keys[i / d][i % d] = k[head + j * d + i];
      values[i / d][i % d] = v[head + j * d + i];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      const int row = warp * kOwn + r;
      float score = 0;
#pragma unroll 16
      for (int i = 0; i < d; ++i) score += queries[row * d + i] * keys[lane][i];
      const bool sees = j + lane <= first + row;
      score = sees ? score : -1e30f;
      float now = fmaxf(most[r], score);
      for (int step = 16; step > 0; step /= 2) {
        now = fmaxf(now, __shfl_xor_sync(~0u, now, step));
      }
      const float weight = sees ? __expf(score - now) : 0;
      const float scale = __expf(most[r] - now);
      float sum = weight;
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
      total[r] = total[r] * scale + sum;
      most[r] = now;
      weights[warp][lane] = weight;
      __syncwarp();
      for (int c = 0; c < kColumns; ++c) acc[r][c] *= scale;
#pragma unroll 8
      for (int i = 0; i < kKeys; ++i) {
        for (int c = 0; c < kColumns; ++c) acc[r][c] += weights[warp][i] * values[i][c * 32 + lane];
      }
      __syncwarp();
    }
  }
  for (int r = 0; r < kOwn; ++r) {
    const long row = head + (first + warp * kOwn + r) * d;
    for (int c = 0; c < kColumns; ++c) out[row + c * 32 + lane] = acc[r][c] / total[r];
  }
}

extern "C" __global__ void flash64(const float* q, const float* k, const float* v, float* out,
                                   int length) {
  flash<64>(q, k, v, out, length);
}

extern "C" __global__ void flash128(const float* q, const float* k, const float* v, float* out,
                                    int length) {
  flash<128>(q, k, v, out, length);
}
constexpr int kBlockRows = 64;  ///< of C, by four warps of 32 x 32
constexpr int kBlockColumns = 64;
constexpr int kDepth = 32;          ///< of a stage
constexpr int kPitch = kDepth + 8;  ///< halves from row to row: no bank conflicts
constexpr int kStages = 2;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void load_four(unsigned (&to)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// a: (m, k), b: (n, k), c: (m, n), all row-major; sizes are multiples of the tiles.
extern "C" __global__ void mma_gemm(const __half* a, const __half* b, float* c, int m, int n,
                                    int k) {
  __shared__ __align__(16) __half tile_a[kStages][kBlockRows][kPitch];
  __shared__ __align__(16) __half tile_b[kStages][kBlockColumns][kPitch];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / 2 * 32;
  const int column = warp % 2 * 32;
  a += blockIdx.y * kBlockRows * k;
  b += blockIdx.x * kBlockColumns * k;
  const auto fetch = [&](int first) {
    for (int i = threadIdx.x; i < kBlockRows * kDepth / 8 && first < k; i += blockDim.x) {
      const int line = i / (kDepth / 8);
      const int at = i % (kDepth / 8) * 8;
      const int stage = first / kDepth % kStages;
      __pipeline_memcpy_async(&tile_a[stage][line][at], &a[line * k + first + at], 16);
      __pipeline_memcpy_async(&tile_b[stage][line][at], &b[line * k + first + at], 16);
    }
    __pipeline_commit();
  };
  float sums[2][4][4] = {};
  fetch(0);
  for (int first = 0; first < k; first += kDepth) {
    fetch(first + kDepth);
    __pipeline_wait_prior(1);
    __syncthreads();
    const int stage = first / kDepth % kStages;
    for (int at = 0; at < kDepth; at += 16) {
      unsigned fa[2][4];
      unsigned fb[2][4];
      for (int i = 0; i < 2; ++i) {
        load_four(fa[i], &tile_a[stage][row + 16 * i + lane % 16][at + lane / 16 * 8]);
        load_four(
            fb[i],
            &tile_b[stage][column + 16 * i + lane / 16 * 8 + lane % 8][at + lane / 8 % 2 * 8]);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          multiply(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int half = 0; half < 2; ++half) {
        const int to = blockIdx.y * kBlockRows + row + 16 * i + 8 * half + lane / 4;
        float* const out = c + to * n + blockIdx.x * kBlockColumns + column + 8 * j;
        reinterpret_cast<float2*>(out)[lane % 4] =
            make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
    }
  }
}

/// The same with wmma, a warp for each 32 x 32 of C, from global memory.
extern "C" __global__ void wmma_gemm(const __half* a, const __half* b, float* c, int m, int n,
                                     int k) {
  using namespace nvcuda;
  const int row = blockIdx.y * kBlockRows + threadIdx.x / 64 * 32;
  const int column = blockIdx.x * kBlockColumns + threadIdx.x / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& line : sums) {
    for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);
  }
  for (int first = 0; first < k; first += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(fa[i], a + (row + 16 * i) * k + first, k);
      wmma::load_matrix_sync(fb[i], b + (column + 16 * i) * k + first, k);
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(c + (row + 16 * i) * n + column + 16 * j, sums[i][j], n,
                              wmma::mem_row_major);
    }
  }
}
