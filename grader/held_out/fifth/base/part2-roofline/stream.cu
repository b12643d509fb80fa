#include "stream.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

// out[i] = f(element i of every input)
template <class F, class... Inputs>
__global__ void pass(F f, std::int64_t n, float* out, const Inputs*... in) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    out[i] = f(in[i]...);
  }
}

template <class F, class... Inputs>
void run(F f, std::int64_t n, float* out, const Inputs*... in) {
  constexpr int kThreads = 256;
  const std::int64_t blocks = std::min<std::int64_t>((n + kThreads - 1) / kThreads, 1728);
  pass<<<static_cast<unsigned>(blocks), kThreads>>>(f, n, out, in...);
  CUDA_CHECK(cudaGetLastError());
}

#define PLAIN_FUNCTION(name, expression) \
  struct name {                          \
    __device__ float operator()(float x) const { return expression; } \
  }

PLAIN_FUNCTION(Same, x);
PLAIN_FUNCTION(Root, sqrtf(x));
PLAIN_FUNCTION(Sine, sinf(x));
PLAIN_FUNCTION(Logistic, 1.0f / (1.0f + expf(-x)));
PLAIN_FUNCTION(Digits, log10f(x));

struct Times {
  float s;
  __device__ float operator()(float x) const { return s * x; }
};
struct Sum {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct Product {
  __device__ float operator()(float x, float y) const { return x * y; }
};
struct Axpy {
  float s;
  __device__ float operator()(float x, float y) const { return fmaf(s, y, x); }
};
struct Power {
  float exponent;
  __device__ float operator()(float x) const { return powf(x, exponent); }
};

}  // namespace

namespace stream {

void copy(const float* a, float* out, std::int64_t n) { run(Same{}, n, out, a); }
void scale(const float* a, float s, float* out, std::int64_t n) { run(Times{s}, n, out, a); }
void add(const float* a, const float* b, float* out, std::int64_t n) { run(Sum{}, n, out, a, b); }
void triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  run(Axpy{s}, n, out, a, b);
}
void mul(const float* a, const float* b, float* out, std::int64_t n) {
  run(Product{}, n, out, a, b);
}
void sqrt(const float* a, float* out, std::int64_t n) { run(Root{}, n, out, a); }
void sin(const float* a, float* out, std::int64_t n) { run(Sine{}, n, out, a); }
void sigmoid(const float* a, float* out, std::int64_t n) { run(Logistic{}, n, out, a); }
void log10(const float* a, float* out, std::int64_t n) { run(Digits{}, n, out, a); }
void pow(const float* a, float exponent, float* out, std::int64_t n) {
  run(Power{exponent}, n, out, a);
}

}  // namespace stream
