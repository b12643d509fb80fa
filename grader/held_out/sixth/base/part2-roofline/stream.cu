#include "stream.h"

#include "toolkit/check.h"

#define THREADS 256
#define BLOCKS_AT_MOST 4096

/* One function of one or two elements and a number each. */
enum operation {
  OP_COPY,
  OP_SCALE,
  OP_ADD,
  OP_TRIAD,
  OP_MUL,
  OP_SQRT,
  OP_SIN,
  OP_SIGMOID,
  OP_LOG10,
  OP_POW
};

struct job {
  const float* a;
  const float* b; /* null where there is one input */
  float s;
  float* out;
  std::int64_t n;
};

template <enum operation OP>
__device__ static float apply(float a, float b, float s) {
  switch (OP) {
    case OP_SCALE: return s * a;
    case OP_ADD: return a + b;
    case OP_TRIAD: return a + s * b;
    case OP_MUL: return a * b;
    case OP_SQRT: return sqrtf(a);
    case OP_SIN: return sinf(a);
    case OP_SIGMOID: return 1.0f / (1.0f + expf(-a));
    case OP_LOG10: return log10f(a);
    case OP_POW: return powf(a, s);
    default: return a;
  }
}

template <enum operation OP>
__global__ void stream_kernel(struct job j) {
  std::int64_t stride = (std::int64_t)gridDim.x * blockDim.x;
  std::int64_t i = (std::int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < j.n; i += stride) {
    float second = j.b ? j.b[i] : 0.0f;
    j.out[i] = apply<OP>(j.a[i], second, j.s);
  }
}

template <enum operation OP>
static void start(const float* a, const float* b, float s, float* out, std::int64_t n) {
  struct job j = {a, b, s, out, n};
  std::int64_t blocks = (n + THREADS - 1) / THREADS;
  if (blocks > BLOCKS_AT_MOST) blocks = BLOCKS_AT_MOST;
  stream_kernel<OP><<<(int)blocks, THREADS>>>(j);
  CUDA_CHECK(cudaGetLastError());
}

void stream::copy(const float* a, float* out, std::int64_t n) {
  start<OP_COPY>(a, nullptr, 0.0f, out, n);
}

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  start<OP_SCALE>(a, nullptr, s, out, n);
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  start<OP_ADD>(a, b, 0.0f, out, n);
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  start<OP_TRIAD>(a, b, s, out, n);
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  start<OP_MUL>(a, b, 0.0f, out, n);
}

void stream::sqrt(const float* a, float* out, std::int64_t n) {
  start<OP_SQRT>(a, nullptr, 0.0f, out, n);
}

void stream::sin(const float* a, float* out, std::int64_t n) {
  start<OP_SIN>(a, nullptr, 0.0f, out, n);
}

void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  start<OP_SIGMOID>(a, nullptr, 0.0f, out, n);
}

void stream::log10(const float* a, float* out, std::int64_t n) {
  start<OP_LOG10>(a, nullptr, 0.0f, out, n);
}

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  start<OP_POW>(a, nullptr, exponent, out, n);
}
