#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform.h>

#include "stream.h"
#include "toolkit/check.h"

namespace {

struct Copy {
  __device__ float operator()(float a) const { return a; }
};
struct Scale {
  float s;
  __device__ float operator()(float a) const { return s * a; }
};
struct Triad {
  float s;
  __device__ float operator()(float a, float b) const { return a + s * b; }
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

// par_nosync: the caller need not wait.
template <typename F>
void each(const float* a, float* out, std::int64_t n, F f) {
  thrust::transform(thrust::cuda::par_nosync, a, a + n, out, f);
  CUDA_CHECK(cudaGetLastError());
}
template <typename F>
void each(const float* a, const float* b, float* out, std::int64_t n, F f) {
  thrust::transform(thrust::cuda::par_nosync, a, a + n, b, out, f);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void stream::copy(const float* a, float* out, std::int64_t n) { each(a, out, n, Copy{}); }
void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  each(a, out, n, Scale{s});
}
void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  each(a, b, out, n, thrust::plus<float>());
}
void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  each(a, b, out, n, Triad{s});
}
void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  each(a, b, out, n, thrust::multiplies<float>());
}
void stream::sqrt(const float* a, float* out, std::int64_t n) { each(a, out, n, Root{}); }
void stream::sin(const float* a, float* out, std::int64_t n) { each(a, out, n, Sine{}); }
void stream::sigmoid(const float* a, float* out, std::int64_t n) { each(a, out, n, Sigmoid{}); }
void stream::log10(const float* a, float* out, std::int64_t n) { each(a, out, n, Log10{}); }
void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  each(a, out, n, Power{exponent});
}
