#include "stream.h"

#include "toolkit/check.h"

constexpr int kThreads = 128;
constexpr int kRun = 32;  // neighbouring elements of one thread

/// Calls f(i) for each element i of this thread's run.
template <typename F>
__device__ void each(std::int64_t n, F f) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kRun;
  for (std::int64_t i = first; i < first + kRun && i < n; ++i) f(i);
}

__global__ void copy_kernel(const float* a, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = a[i]; });
}
__global__ void scale_kernel(const float* a, float s, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = s * a[i]; });
}
__global__ void add_kernel(const float* a, const float* b, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = a[i] + b[i]; });
}
__global__ void triad_kernel(const float* a, const float* b, float s, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = a[i] + s * b[i]; });
}
__global__ void mul_kernel(const float* a, const float* b, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = a[i] * b[i]; });
}
__global__ void sqrt_kernel(const float* a, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = sqrtf(a[i]); });
}
__global__ void sin_kernel(const float* a, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = sinf(a[i]); });
}
__global__ void sigmoid_kernel(const float* a, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = 1.0f / (1.0f + expf(-a[i])); });
}
__global__ void log10_kernel(const float* a, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = log10f(a[i]); });
}
__global__ void pow_kernel(const float* a, float exponent, float* out, std::int64_t n) {
  each(n, [=](std::int64_t i) { out[i] = powf(a[i], exponent); });
}

unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t kOfBlock = std::int64_t{kThreads} * kRun;
  return static_cast<unsigned>((n + kOfBlock - 1) / kOfBlock);
}

void stream::copy(const float* a, float* out, std::int64_t n) {
  copy_kernel<<<blocks_for(n), kThreads>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  scale_kernel<<<blocks_for(n), kThreads>>>(a, s, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  add_kernel<<<blocks_for(n), kThreads>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  triad_kernel<<<blocks_for(n), kThreads>>>(a, b, s, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  mul_kernel<<<blocks_for(n), kThreads>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::sqrt(const float* a, float* out, std::int64_t n) {
  sqrt_kernel<<<blocks_for(n), kThreads>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::sin(const float* a, float* out, std::int64_t n) {
  sin_kernel<<<blocks_for(n), kThreads>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  sigmoid_kernel<<<blocks_for(n), kThreads>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::log10(const float* a, float* out, std::int64_t n) {
  log10_kernel<<<blocks_for(n), kThreads>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}
void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  pow_kernel<<<blocks_for(n), kThreads>>>(a, exponent, out, n);
  CUDA_CHECK(cudaGetLastError());
}
