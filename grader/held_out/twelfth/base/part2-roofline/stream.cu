#include "stream.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

// Four elements of the output for each thread and round, with what is left at the end one by one.
template <typename F>
__global__ void map_one(F f, const float* a, float* out, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t quads = n / 4;
  for (std::int64_t i = first; i < quads; i += step) {
    const float4 in = reinterpret_cast<const float4*>(a)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(f(in.x), f(in.y), f(in.z), f(in.w));
  }
  const std::int64_t rest = 4 * quads + first;
  if (rest < n) out[rest] = f(a[rest]);
}

template <typename F>
__global__ void map_two(F f, const float* a, const float* b, float* out, std::int64_t n) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    out[i] = f(a[i], b[i]);
  }
}

constexpr int kThreads = 256;

int blocks_for(std::int64_t n) {
  return static_cast<int>(std::min<std::int64_t>((n + kThreads - 1) / kThreads, 4096));
}

template <typename F>
void run(F f, const float* a, float* out, std::int64_t n) {
  map_one<<<blocks_for((n + 3) / 4), kThreads>>>(f, a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

template <typename F>
void run(F f, const float* a, const float* b, float* out, std::int64_t n) {
  map_two<<<blocks_for(n), kThreads>>>(f, a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}

struct Same {
  __device__ float operator()(float a) const { return a; }
};
struct Times {
  float s;
  __device__ float operator()(float a) const { return s * a; }
};
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct PlusTimes {
  float s;
  __device__ float operator()(float a, float b) const { return fmaf(s, b, a); }
};
struct Product {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct Root {
  __device__ float operator()(float a) const { return sqrtf(a); }
};
struct Sine {
  __device__ float operator()(float a) const { return sinf(a); }
};
struct Sigmoid {
  __device__ float operator()(float a) const { return 1.0f / (1.0f + expf(-a)); }
};
struct Log10 {
  __device__ float operator()(float a) const { return log10f(a); }
};
struct Power {
  float exponent;
  __device__ float operator()(float a) const { return powf(a, exponent); }
};

}  // namespace

void stream::copy(const float* a, float* out, std::int64_t n) { run(Same{}, a, out, n); }
void stream::scale(const float* a, float s, float* out, std::int64_t n) { run(Times{s}, a, out, n); }
void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  run(Plus{}, a, b, out, n);
}
void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  run(PlusTimes{s}, a, b, out, n);
}
void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  run(Product{}, a, b, out, n);
}
void stream::sqrt(const float* a, float* out, std::int64_t n) { run(Root{}, a, out, n); }
void stream::sin(const float* a, float* out, std::int64_t n) { run(Sine{}, a, out, n); }
void stream::sigmoid(const float* a, float* out, std::int64_t n) { run(Sigmoid{}, a, out, n); }
void stream::log10(const float* a, float* out, std::int64_t n) { run(Log10{}, a, out, n); }
void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  run(Power{exponent}, a, out, n);
}
