#include "rope.h"

#include <cuda_bf16.h>

#include <cstdint>

#include "toolkit/check.h"

struct Complex {
  float re, im;
};
__device__ Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <typename T>
struct TwoOf;
template <>
struct TwoOf<float> {
  using type = float2;
  __device__ static float2 wide(float2 v) { return v; }
  __device__ static float2 narrow(float2 v) { return v; }
};
template <>
struct TwoOf<__nv_bfloat16> {
  using type = __nv_bfloat162;
  __device__ static float2 wide(__nv_bfloat162 v) { return __bfloat1622float2(v); }
  __device__ static __nv_bfloat162 narrow(float2 v) { return __float22bfloat162_rn(v); }
};

__device__ Complex unit(int position, float frequency) {
  Complex c;
  sincosf(position * frequency, &c.im, &c.re);
  return c;
}

__device__ float frequency_of(int pair, int half, float theta) {
  return powf(theta, -static_cast<float>(pair) / half);
}

template <typename T>
__global__ void turn_pairs(T* x, const int* positions, std::int64_t rows, int length, int heads,
                           int half, float theta) {
  using Two = TwoOf<T>;
  const int i = 2 * threadIdx.x;
  if (i >= half) return;
  const float f0 = frequency_of(i, half, theta), f1 = frequency_of(i + 1, half, theta);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int position = positions[row / heads % length];
    T* a = x + row * 2 * half + i;
    T* b = a + half;
    if (half % 2 == 0) {
      auto* pa = reinterpret_cast<typename Two::type*>(a);
      auto* pb = reinterpret_cast<typename Two::type*>(b);
      const float2 u = Two::wide(*pa), v = Two::wide(*pb);
      const Complex one = Complex{u.x, v.x} * unit(position, f0);
      const Complex two = Complex{u.y, v.y} * unit(position, f1);
      *pa = Two::narrow({one.re, two.re});
      *pb = Two::narrow({one.im, two.im});
      continue;
    }
    for (int j = 0; j < 2 && i + j < half; ++j) {
      const Complex turned = Complex{static_cast<float>(a[j]), static_cast<float>(b[j])} *
                             unit(position, j == 0 ? f0 : f1);
      a[j] = static_cast<T>(turned.re);
      b[j] = static_cast<T>(turned.im);
    }
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int half = head_dim / 2;
  const std::int64_t rows = static_cast<std::int64_t>(batch) * length * heads;
  const int blocks = rows < 4096 ? static_cast<int>(rows) : 4096;
  const int threads = (half + 1) / 2;
  turn_pairs<<<blocks, threads, 0, stream>>>(x, positions, rows, length, heads, half, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
