#include "rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kTeam = 64;

// Of the teams of a block each has a barrier: 1 or 2. Barrier 0 is that of __syncthreads.
__device__ void meet(int team) {
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(kTeam) : "memory");
}

// The lane within the team, 0 ... 63, in one instruction: a & b.
__device__ int within_team(int thread) {
  int lane;
  asm("lop3.b32 %0, %1, %2, 0, 0xc0;" : "=r"(lane) : "r"(thread), "r"(kTeam - 1));
  return lane;
}

template <typename T>
__global__ void two_rows(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  __shared__ float of_warp[2][2];
  const int team = threadIdx.x / kTeam, lane = within_team(threadIdx.x);
  const int row = 2 * blockIdx.x + team;
  if (row >= rows) return;  // the last block may have one row
  const size_t begin = static_cast<size_t>(row) * width;
  float squares = 0;
  for (int i = lane; i < width; i += kTeam) {
    const float v = rooflab::to_float(x[begin + i]);
    squares += v * v;
  }
  for (int d = 16; d > 0; d >>= 1) squares += __shfl_xor_sync(0xffffffff, squares, d);
  if (lane % 32 == 0) of_warp[team][lane / 32] = squares;
  meet(team);
  const float scale = rsqrtf((of_warp[team][0] + of_warp[team][1]) / width + epsilon);
  for (int i = lane; i < width; i += kTeam) {
    const float v = rooflab::to_float(x[begin + i]);
    y[begin + i] = rooflab::from_float<T>(v * scale * (1.0f + rooflab::to_float(weight[i])));
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  two_rows<<<(rows + 1) / 2, 2 * kTeam, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
