#include "gemm.h"
#include "toolkit/check.h"

namespace {

struct Dot {
  const float* row;     // steps by 1
  const float* column;  // steps by `pitch`
  int pitch;
  __device__ float operator()(int length) const {
    float s = 0;
    for (int t = 0; t < length; ++t) s = fmaf(row[t], column[t * pitch], s);
    return s;
  }
};

__global__ void element(const float* A, const float* B, float* C, int M, int N, int K) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = id / N, j = id % N;
  if (i >= M) return;
  const Dot dot{A + i * K, B + j, N};
  C[id] = dot(K);
}

}  // namespace

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const unsigned outputs = unsigned(M) * unsigned(N);
  const unsigned threads = 96;
  element<<<(outputs + threads - 1) / threads, threads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
