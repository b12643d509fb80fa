// A tile of a GEMM on tensor cores, twice: by wmma, whose fragments have a layout of their own, and
// by the machine's instructions ldmatrix and mma.sync, whose layout is documented.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                             \
  if (const cudaError_t error = (call); error != cudaSuccess) { \
    std::printf("%s: %s\n", #call, cudaGetErrorString(error));  \
    return 1;                                                   \
  }

namespace wmma = nvcuda::wmma;

// One warp: C (16, 16) = A (16, K) B (K, 16). K is a multiple of 16.
__global__ void wmma_tile(const half* A, const half* B, float* C, int K) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + k, K);        // (16, 16) of A, whose rows are K numbers apart
    wmma::load_matrix_sync(b, B + k * 16, 16);  // (16, 16) of B, whose rows are 16 numbers apart
    wmma::mma_sync(c, a, b, c);                 // c += a b: 4096 MACs, with sums in fp32
  }
  wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}

// One warp: C (16, 8) = A (16, 16) B (16, 8), one instruction of the machine.
__global__ void mma_tile(const half* A, const half* B, float* C) {
  __shared__ __align__(16) half As[16][16];
  __shared__ __align__(16) half Bs[16][8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32) As[i / 16][i % 16] = A[i];
  for (int i = lane; i < 16 * 8; i += 32) Bs[i / 8][i % 8] = B[i];
  __syncwarp();

  // Each lane names a row of 8 halves; ldmatrix gives every lane its part of all of them.
  const auto a_row = static_cast<unsigned>(__cvta_generic_to_shared(&As[lane % 16][lane / 16 * 8]));
  const auto b_row = static_cast<unsigned>(__cvta_generic_to_shared(&Bs[lane % 16][0]));
  unsigned a[4], b[2];  // two halves in each
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(a_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(b_row));
  float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));

  // A lane holds two neighbouring sums of one row, and the two that are 8 rows below.
  const int row = lane / 4;
  const int column = lane % 4 * 2;
  C[row * 8 + column] = c[0];
  C[row * 8 + column + 1] = c[1];
  C[(row + 8) * 8 + column] = c[2];
  C[(row + 8) * 8 + column + 1] = c[3];
}

// Whether C (rows, columns) is A (rows, depth) B (depth, columns).
bool is_product(const half* A, const half* B, const float* C, int rows, int columns, int depth) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += static_cast<double>(__half2float(A[i * depth + k])) *
               static_cast<double>(__half2float(B[k * columns + j]));
      }
      if (!(std::fabs(C[i * columns + j] - sum) <= 1e-4 * depth)) return false;
    }
  }
  return true;
}

int main() {
  constexpr int kDepth = 48;
  half *A = nullptr, *B = nullptr;
  float* C = nullptr;
  CHECK(cudaMallocManaged(&A, 16 * kDepth * sizeof(half)));
  CHECK(cudaMallocManaged(&B, kDepth * 16 * sizeof(half)));
  CHECK(cudaMallocManaged(&C, 16 * 16 * sizeof(float)));
  for (int i = 0; i < 16 * kDepth; ++i) {
    A[i] = __float2half(std::sin(0.7f * i));
    B[i] = __float2half(std::cos(0.3f * i));
  }

  wmma_tile<<<1, 32>>>(A, B, C, kDepth);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const bool wmma_is_right = is_product(A, B, C, 16, 16, kDepth);

  mma_tile<<<1, 32>>>(A, B, C);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const bool mma_is_right = is_product(A, B, C, 16, 8, 16);

  std::printf("wmma: %s, mma.sync: %s\n", wmma_is_right ? "right" : "wrong",
              mma_is_right ? "right" : "wrong");
  CHECK(cudaFree(A));
  CHECK(cudaFree(B));
  CHECK(cudaFree(C));
  return wmma_is_right && mma_is_right ? 0 : 1;
}
