#include "stream.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 256;

// out[i] = function(i). What the function reads, it has captured.
template <typename Function>
__global__ void for_each(Function function, float* out, std::int64_t n) {
  const std::int64_t all = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += all) {
    out[i] = function(i);
  }
}

template <typename Function>
void run(Function function, float* out, std::int64_t n) {
  const std::int64_t blocks = std::min<std::int64_t>((n + kThreads - 1) / kThreads, 1 << 16);
  for_each<<<static_cast<unsigned>(blocks), kThreads>>>(function, out, n);
  CUDA_CHECK(cudaGetLastError());
}

struct Copy {
  const float* a;
  __device__ float operator()(std::int64_t i) const { return a[i]; }
};
struct Scale {
  const float* a;
  float s;
  __device__ float operator()(std::int64_t i) const { return a[i] * s; }
};
struct Triad {
  const float *a, *b;
  float s;
  __device__ float operator()(std::int64_t i) const { return a[i] + s * b[i]; }
};
struct Mul {
  const float *a, *b;
  __device__ float operator()(std::int64_t i) const { return a[i] * b[i]; }
};
struct Add {
  const float *a, *b;
  __device__ float operator()(std::int64_t i) const { return a[i] + b[i]; }
};
struct Root {
  const float* a;
  __device__ float operator()(std::int64_t i) const { return sqrtf(a[i]); }
};
struct Sine {
  const float* a;
  __device__ float operator()(std::int64_t i) const { return sinf(a[i]); }
};
struct Sigmoid {
  const float* a;
  __device__ float operator()(std::int64_t i) const { return 1.0f / (1.0f + expf(-a[i])); }
};
struct Log10 {
  const float* a;
  __device__ float operator()(std::int64_t i) const { return log10f(a[i]); }
};
struct Power {
  const float* a;
  float exponent;
  __device__ float operator()(std::int64_t i) const { return powf(a[i], exponent); }
};

}  // namespace

void stream::copy(const float* a, float* out, std::int64_t n) { run(Copy{a}, out, n); }

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  run(Scale{a, s}, out, n);
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  run(Add{a, b}, out, n);
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  run(Triad{a, b, s}, out, n);
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  run(Mul{a, b}, out, n);
}

void stream::sqrt(const float* a, float* out, std::int64_t n) { run(Root{a}, out, n); }

void stream::sin(const float* a, float* out, std::int64_t n) { run(Sine{a}, out, n); }

void stream::sigmoid(const float* a, float* out, std::int64_t n) { run(Sigmoid{a}, out, n); }

void stream::log10(const float* a, float* out, std::int64_t n) { run(Log10{a}, out, n); }

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  run(Power{a, exponent}, out, n);
}
