#include "stream.h"

#include "toolkit/check.h"

__device__ std::int64_t first_element() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 8;
}

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + 8 * 64 - 1) / (8 * 64)); }

__global__ void copy_kernel(const float* a, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = a[i];
  }
}

void stream::copy(const float* a, float* out, std::int64_t n) {
  copy_kernel<<<blocks_for(n), 64>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void scale_kernel(const float* a, float s, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = s * a[i];
  }
}

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  scale_kernel<<<blocks_for(n), 64>>>(a, s, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void add_kernel(const float* a, const float* b, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = a[i] + b[i];
  }
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  add_kernel<<<blocks_for(n), 64>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void triad_kernel(const float* a, const float* b, float s, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = a[i] + s * b[i];
  }
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  triad_kernel<<<blocks_for(n), 64>>>(a, b, s, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void mul_kernel(const float* a, const float* b, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = a[i] * b[i];
  }
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  mul_kernel<<<blocks_for(n), 64>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void sqrt_kernel(const float* a, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = sqrtf(a[i]);
  }
}

void stream::sqrt(const float* a, float* out, std::int64_t n) {
  sqrt_kernel<<<blocks_for(n), 64>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void sin_kernel(const float* a, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = sinf(a[i]);
  }
}

void stream::sin(const float* a, float* out, std::int64_t n) {
  sin_kernel<<<blocks_for(n), 64>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void sigmoid_kernel(const float* a, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = 1 / (1 + expf(-a[i]));
  }
}

void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  sigmoid_kernel<<<blocks_for(n), 64>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void log10_kernel(const float* a, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = log10f(a[i]);
  }
}

void stream::log10(const float* a, float* out, std::int64_t n) {
  log10_kernel<<<blocks_for(n), 64>>>(a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void pow_kernel(const float* a, float exponent, float* out, std::int64_t n) {
  const std::int64_t first = first_element();
  for (std::int64_t i = first; i < first + 8; ++i) {
    if (i < n) out[i] = powf(a[i], exponent);
  }
}

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  pow_kernel<<<blocks_for(n), 64>>>(a, exponent, out, n);
  CUDA_CHECK(cudaGetLastError());
}
