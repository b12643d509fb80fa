#include "gemm.h"
#include "toolkit/check.h"
namespace {
// One thread per element, nothing in shared memory. Every instruction of the loop has a guard that
// is always true.
__global__ void __launch_bounds__(256)
    kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || column >= N) return;
  const float* a = A + row * K;
  const float* b = B + column;
  float sum = 0.0f;
  asm volatile(
      "{ .reg .pred p, q;\n"
      ".reg .f32 x, y; .reg .s32 k; .reg .u64 pa, pb;\n"
      "setp.gt.s32 p, %4, 0;\n"
      "mov.f32 x, 0f00000000; mov.f32 y, 0f00000000;\n"
      "mov.u64 pa, %1; mov.u64 pb, %2; mov.s32 k, %4; mov.pred q, p;\n"
      "LOOP%=:\n"
      "@p ld.global.f32 x, [pa];\n"
      "@p ld.global.f32 y, [pb];\n"
      "@p fma.rn.f32 %0, x, y, %0;\n"
      "@p add.u64 pa, pa, 4;\n"
      "@p add.u64 pb, pb, %3;\n"
      "@p add.s32 k, k, -1;\n"
      "@p setp.gt.s32 q, k, 0;\n"
      "@q bra LOOP%=;\n"
      "}\n"
      : "+f"(sum)
      : "l"(a), "l"(b), "l"((long long)N * 4), "r"(K)
      : "memory");
  C[row * N + column] = sum;
}
}  // namespace
void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(32, 8);
  const dim3 grid((N + 31) / 32, (M + 7) / 8);
  kernel<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
