#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cmath>
#include <vector>

#include "check.h"

/// A product as fast kernels write it: asynchronous copies into two stages, ldmatrix, mma; and the
/// same with wmma. Both against sums in double.

constexpr int kM = 32, kN = 16, kK = 16;  ///< tile of a block of two warps
constexpr int kPitch = kK + 8;            ///< halves from row to row in shared memory
constexpr int kSize = 64;                 ///< of the product: kSize^3

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// a: (kSize, kSize), row-major; b: (kSize, kSize), column-major; c: row-major.
__global__ void by_mma(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half tile_a[2][kM][kPitch];
  __shared__ __align__(16) __half tile_b[2][kN][kPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  const auto fetch = [&](int step) {
    if (step * kK < kSize) {
      const int line = threadIdx.x / 2, half = threadIdx.x % 2 * 8;
      __pipeline_memcpy_async(&tile_a[step % 2][line][half],
                              &a[(row + line) * kSize + step * kK + half], 16);
      if (line < kN) {
        __pipeline_memcpy_async(&tile_b[step % 2][line][half],
                                &b[(column + line) * kSize + step * kK + half], 16);
      }
    }
    __pipeline_commit();
  };
  float sums[2][4] = {};
  fetch(0);
  for (int step = 0; step < kSize / kK; ++step) {
    fetch(step + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    unsigned fa[4], fb[4];
    const __half* const from_a = &tile_a[step % 2][warp * 16 + lane % 16][lane / 16 * 8];
    const __half* const from_b = &tile_b[step % 2][lane / 16 * 8 + lane % 8][lane / 8 % 2 * 8];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(shared_address(from_a)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                 : "r"(shared_address(from_b)));
    for (int i = 0; i < 2; ++i) {
      float* const d = sums[i];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * i]), "r"(fb[2 * i + 1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int at = row + warp * 16 + lane / 4 + j / 2 * 8;
      c[at * kSize + column + i * 8 + lane % 4 * 2 + j % 2] = sums[i][j];
    }
  }
}

__global__ void by_wmma(const __half* a, const __half* b, float* c) {
  using namespace nvcuda;
  const int row = blockIdx.y * kM + threadIdx.x / 32 * 16, column = blockIdx.x * kN;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < kSize; step += 16) {
    wmma::load_matrix_sync(fa, a + row * kSize + step, kSize);
    wmma::load_matrix_sync(fb, b + column * kSize + step, kSize);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * kSize + column, sum, kSize, wmma::mem_row_major);
}

int main() {
  std::vector<__half> a(kSize * kSize), b(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = __float2half(static_cast<float>(i * 7919 % 2000) / 1000.0f - 1.0f);
    b[i] = __float2half(static_cast<float>(i * 104729 % 2000) / 1000.0f - 1.0f);
  }
  __half *on_a, *on_b;
  float* on_c;
  const std::size_t bytes = a.size() * sizeof(__half);
  CHECK(cudaMalloc(&on_a, bytes));
  CHECK(cudaMalloc(&on_b, bytes));
  CHECK(cudaMalloc(&on_c, 2 * bytes));
  CHECK(cudaMemcpy(on_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_b, b.data(), bytes, cudaMemcpyHostToDevice));
  std::vector<float> first;
  for (const auto kernel : {by_mma, by_wmma}) {
    CHECK(cudaMemset(on_c, 0, 2 * bytes));
    kernel<<<dim3(kSize / kN, kSize / kM), 64>>>(on_a, on_b, on_c);
    CHECK(cudaGetLastError());
    std::vector<float> c(a.size());
    CHECK(cudaMemcpy(c.data(), on_c, 2 * bytes, cudaMemcpyDeviceToHost));
    for (int row = 0; row < kSize; ++row) {
      for (int column = 0; column < kSize; ++column) {
        double expected = 0, magnitude = 0;
        for (int k = 0; k < kSize; ++k) {
          const double product = static_cast<double>(__half2float(a[row * kSize + k])) *
                                 __half2float(b[column * kSize + k]);
          expected += product;
          magnitude += std::fabs(product);
        }
        EXPECT(std::fabs(c[row * kSize + column] - expected) <= kSize * 0x1p-24 * magnitude);
      }
    }
    if (first.empty()) first = c;
    EXPECT(first == c);
  }
  CHECK(cudaFree(on_a));
  CHECK(cudaFree(on_b));
  CHECK(cudaFree(on_c));
  std::printf("tensor cores are right\n");
}
