#include "stream.h"

#include "toolkit/check.h"

namespace {

using Index = std::int64_t;

constexpr int kThreads = 224;

// A thread has one float4 of each array; the thread after the last whole one has what is left over.
template <typename F>
__global__ void one_in(const float* a, float* out, Index n, F f) {
  const Index quad = Index{blockIdx.x} * kThreads + threadIdx.x;
  const Index whole = n / 4;
  if (quad < whole) {
    const float4 x = reinterpret_cast<const float4*>(a)[quad];
    reinterpret_cast<float4*>(out)[quad] = make_float4(f(x.x), f(x.y), f(x.z), f(x.w));
  } else if (quad == whole) {
    for (Index i = whole * 4; i < n; ++i) out[i] = f(a[i]);
  }
}

template <typename F>
__global__ void two_in(const float* a, const float* b, float* out, Index n, F f) {
  const Index quad = Index{blockIdx.x} * kThreads + threadIdx.x;
  const Index whole = n / 4;
  if (quad < whole) {
    const float4 x = reinterpret_cast<const float4*>(a)[quad];
    const float4 y = reinterpret_cast<const float4*>(b)[quad];
    reinterpret_cast<float4*>(out)[quad] =
        make_float4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
  } else if (quad == whole) {
    for (Index i = whole * 4; i < n; ++i) out[i] = f(a[i], b[i]);
  }
}

unsigned blocks_for(Index n) {
  const Index quads = n / 4 + 1;  // one more for the rest, which may be empty
  return static_cast<unsigned>((quads + kThreads - 1) / kThreads);
}

template <typename F>
void apply(const float* a, float* out, Index n, F f) {
  one_in<<<blocks_for(n), kThreads>>>(a, out, n, f);
  CUDA_CHECK(cudaGetLastError());
}

template <typename F>
void apply(const float* a, const float* b, float* out, Index n, F f) {
  two_in<<<blocks_for(n), kThreads>>>(a, b, out, n, f);
  CUDA_CHECK(cudaGetLastError());
}

struct Same {
  __device__ float operator()(float x) const { return x; }
};
struct Times {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};
struct Plus {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct PlusTimes {
  float factor;
  __device__ float operator()(float x, float y) const { return fmaf(factor, y, x); }
};
struct Product {
  __device__ float operator()(float x, float y) const { return x * y; }
};
struct Root {
  __device__ float operator()(float x) const { return sqrtf(x); }
};
struct Sine {
  __device__ float operator()(float x) const { return sinf(x); }
};
struct Logistic {
  __device__ float operator()(float x) const { return 1.0f / (1.0f + expf(-x)); }
};
struct Decades {
  __device__ float operator()(float x) const { return log10f(x); }
};
struct Power {
  float exponent;
  __device__ float operator()(float x) const { return powf(x, exponent); }
};

}  // namespace

void stream::copy(const float* a, float* out, std::int64_t n) { apply(a, out, n, Same{}); }

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  apply(a, out, n, Times{s});
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  apply(a, b, out, n, Plus{});
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  apply(a, b, out, n, PlusTimes{s});
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  apply(a, b, out, n, Product{});
}

void stream::sqrt(const float* a, float* out, std::int64_t n) { apply(a, out, n, Root{}); }

void stream::sin(const float* a, float* out, std::int64_t n) { apply(a, out, n, Sine{}); }

void stream::sigmoid(const float* a, float* out, std::int64_t n) { apply(a, out, n, Logistic{}); }

void stream::log10(const float* a, float* out, std::int64_t n) { apply(a, out, n, Decades{}); }

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  apply(a, out, n, Power{exponent});
}
