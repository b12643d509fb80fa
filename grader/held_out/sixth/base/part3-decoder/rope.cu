#include "rope.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define THREADS 128

struct rope_shape {
  std::int64_t pairs; /* of all heads of all tokens */
  int length;
  int heads;
  int head_dim;
  float theta;
};

/* The angle of pair i of a token at position p. */
__device__ static float angle_of(int p, int i, struct rope_shape s) {
  float exponent = -2.0f * (float)i / (float)s.head_dim;
  return (float)p * powf(s.theta, exponent);
}

template <typename T>
__global__ void rotate_kernel(T* x, const int* positions, struct rope_shape s) {
  std::int64_t index = (std::int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (index >= s.pairs) return;

  int half = s.head_dim / 2;
  int pair = (int)(index % half);
  std::int64_t head = index / half; /* counted over all tokens */
  std::int64_t token = head / s.heads;
  int position = positions[token % s.length];

  T* first = x + head * s.head_dim + pair;
  T* second = first + half;
  float a = rooflab::to_float(*first);
  float b = rooflab::to_float(*second);

  float sine, cosine;
  sincosf(angle_of(position, pair, s), &sine, &cosine);
  *first = rooflab::from_float<T>(a * cosine - b * sine);
  *second = rooflab::from_float<T>(b * cosine + a * sine);
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  struct rope_shape s;
  s.pairs = (std::int64_t)batch * length * heads * (head_dim / 2);
  s.length = length;
  s.heads = heads;
  s.head_dim = head_dim;
  s.theta = theta;

  std::int64_t blocks = (s.pairs + THREADS - 1) / THREADS;
  rotate_kernel<T><<<(unsigned)blocks, THREADS, 0, stream>>>(x, positions, s);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
