#pragma once

/// Streams over long arrays, one element per thread unless the name says otherwise.
namespace validate {

template <typename T>
__global__ void stream_fill(T* a, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = static_cast<T>(0.25);
}

/// Reads only: the comparison keeps the load and never holds.
template <typename T>
__global__ void stream_read(T* a, const T* b, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n && b[i] == static_cast<T>(123.5)) a[i] = static_cast<T>(1);
}

template <typename T>
__global__ void stream_copy(T* a, const T* b, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = b[i];
}

template <typename T>
__global__ void stream_scale(T* a, const T* b, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = static_cast<T>(1.5) * b[i];
}

template <typename T>
__global__ void stream_add(T* a, const T* b, const T* c, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = b[i] + c[i];
}

template <typename T>
__global__ void stream_triad(T* a, const T* b, const T* c, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = static_cast<T>(1.5) * b[i] + c[i];
}

/// Four floats per thread: what a tensor library does for elementwise operations.
__global__ void stream_scale_vectors(float4* a, const float4* b, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= n / 4) return;
  const float4 v = b[i];
  a[i] = make_float4(1.5F * v.x, 1.5F * v.y, 1.5F * v.z, 1.5F * v.w);
}

__global__ void stream_fill_vectors(float4* a, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n / 4) a[i] = make_float4(0.25F, 0.25F, 0.25F, 0.25F);
}

}  // namespace validate
