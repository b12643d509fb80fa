#include "rmsnorm.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kThreads = 256;

// One block for each row; a tree in shared memory adds up what the threads found.
template <typename T>
__global__ void norm_row(const T* x, const T* weight, T* y, int width, float epsilon) {
  __shared__ float tree[kThreads];
  const long long begin = static_cast<long long>(blockIdx.x) * width;
  const T* in = x + begin;
  T* out = y + begin;
  const int me = threadIdx.x;

  float squares = 0.0f;
  for (int i = me; i < width; i += kThreads) {
    const float value = to_float(in[i]);
    squares += value * value;
  }
  tree[me] = squares;
  for (int half = kThreads / 2; half > 0; half >>= 1) {
    __syncthreads();
    if (me < half) tree[me] += tree[me + half];
  }
  __syncthreads();

  const float scale = rsqrtf(tree[0] / width + epsilon);
  for (int i = me; i < width; i += kThreads) {
    const float gain = 1.0f + to_float(weight[i]);
    out[i] = from_float<T>(to_float(in[i]) * scale * gain);
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  norm_row<<<rows, kThreads, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
