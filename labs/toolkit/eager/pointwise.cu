#include "toolkit/eager/pointwise.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace rooflab::eager {
namespace {

constexpr int kThreads = 256;

// What a kernel does to an element. They are types, so that each kernel's name tells what it does.
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Multiply {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct AddNumber {
  float number;
  __device__ float operator()(float x) const { return x + number; }
};
struct Scale {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};
struct Square {
  __device__ float operator()(float x) const { return x * x; }
};
struct Cube {
  __device__ float operator()(float x) const { return x * x * x; }
};
struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
};
struct Rsqrt {
  __device__ float operator()(float x) const { return rsqrtf(x); }
};

template <typename Operation, typename T>
__global__ void elementwise_kernel(Operation operation, const T* x, T* y, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) y[i] = from_float<T>(operation(to_float(x[i])));
}

template <typename Operation, typename T>
__global__ void elementwise_kernel(Operation operation, const T* a, const T* b, T* y,
                                   std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) y[i] = from_float<T>(operation(to_float(a[i]), to_float(b[i])));
}

unsigned blocks(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

template <typename Operation, typename T>
void launch(Operation operation, const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;  // no grid is that small
  elementwise_kernel<<<blocks(count), kThreads, 0, stream>>>(operation, x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template <typename Operation, typename T>
void launch(Operation operation, const T* a, const T* b, T* y, std::int64_t count,
            cudaStream_t stream) {
  if (count == 0) return;
  elementwise_kernel<<<blocks(count), kThreads, 0, stream>>>(operation, a, b, y, count);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

template <typename T>
void add(const T* a, const T* b, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Add(), a, b, y, count, stream);
}

template <typename T>
void multiply(const T* a, const T* b, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Multiply(), a, b, y, count, stream);
}

template <typename T>
void add_number(const T* x, float number, T* y, std::int64_t count, cudaStream_t stream) {
  launch(AddNumber{number}, x, y, count, stream);
}

template <typename T>
void scale(const T* x, float factor, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Scale{factor}, x, y, count, stream);
}

template <typename T>
void square(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Square(), x, y, count, stream);
}

template <typename T>
void cube(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Cube(), x, y, count, stream);
}

template <typename T>
void tanh(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Tanh(), x, y, count, stream);
}

template <typename T>
void rsqrt(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  launch(Rsqrt(), x, y, count, stream);
}

// The types that they are for.
#define ROOFLAB_INSTANTIATE(T)                                                \
  template void add(const T*, const T*, T*, std::int64_t, cudaStream_t);      \
  template void multiply(const T*, const T*, T*, std::int64_t, cudaStream_t); \
  template void add_number(const T*, float, T*, std::int64_t, cudaStream_t);  \
  template void scale(const T*, float, T*, std::int64_t, cudaStream_t);       \
  template void square(const T*, T*, std::int64_t, cudaStream_t);             \
  template void cube(const T*, T*, std::int64_t, cudaStream_t);               \
  template void tanh(const T*, T*, std::int64_t, cudaStream_t);               \
  template void rsqrt(const T*, T*, std::int64_t, cudaStream_t);
ROOFLAB_INSTANTIATE(float)
ROOFLAB_INSTANTIATE(__half)
ROOFLAB_INSTANTIATE(__nv_bfloat16)
#undef ROOFLAB_INSTANTIATE

}  // namespace rooflab::eager
