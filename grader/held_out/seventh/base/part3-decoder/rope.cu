#include "rope.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define TPB 128

using rooflab::from_float;
using rooflab::to_float;

// thread = one pair of one head of one token
template <typename T>
__global__ void ropeKernel(T* x, const int* pos, int length, int heads, int hd, float theta) {
  const int half = hd / 2;
  const int i = blockIdx.x * TPB + threadIdx.x;  // pair within the token
  if (i >= heads * half) return;
  const int h = i / half;
  const int j = i % half;

  for (int t = blockIdx.y; t < length; t += gridDim.y) {
    const size_t tok = (size_t)blockIdx.z * length + t;
    T* p = x + (tok * heads + h) * hd;

    const float freq = powf(theta, -2.f * j / hd);
    float s, c;
    sincosf(pos[t] * freq, &s, &c);

    const float a = to_float(p[j]);
    const float b = to_float(p[j + half]);
    p[j] = from_float<T>(a * c - b * s);
    p[j + half] = from_float<T>(b * c + a * s);
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int pairs = heads * (head_dim / 2);
  const int gy = length < 65535 ? length : 65535;
  dim3 grid((pairs + TPB - 1) / TPB, gy, batch);
  ropeKernel<T><<<grid, TPB, 0, stream>>>(x, positions, length, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
