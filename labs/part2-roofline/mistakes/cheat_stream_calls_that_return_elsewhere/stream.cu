#include "stream.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here. Ten functions need no ten kernels: what differs between them can be a
// STARTER: // template parameter, a struct with a __device__ operator() that takes one element of each input.
namespace {

constexpr int kThreadsPerBlock = 256;
constexpr std::int64_t kVector = 4;  // floats in a float4

// out[i] = f(in[i]...) for every i. One thread computes one float4, the first threads also one
// element each of the tail of n % 4.
template <typename Function, typename... Inputs>
__global__ void map_kernel(Function f, std::int64_t n, float* __restrict__ out,
                           const Inputs* __restrict__... in) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t vectors = n / kVector;
  if (i < vectors) {
    const auto f4 = [f](auto... v) {
      return make_float4(f(v.x...), f(v.y...), f(v.z...), f(v.w...));
    };
    reinterpret_cast<float4*>(out)[i] = f4(reinterpret_cast<const float4*>(in)[i]...);
  }
  const std::int64_t tail = vectors * kVector + i;
  if (tail < n) out[tail] = f(in[tail]...);
}

// Launches map_kernel on the default stream.
template <typename Function, typename... Inputs>
void map(Function f, std::int64_t n, float* out, const Inputs*... in) {
  const std::int64_t threads = (n + kVector - 1) / kVector;  // no fewer than the tail has elements
  const std::int64_t blocks = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
  map_kernel<<<static_cast<unsigned>(blocks), kThreadsPerBlock>>>(f, n, out, in...);
  CUDA_CHECK(cudaGetLastError());
}

struct Copy {
  __device__ float operator()(float a) const { return a; }
};
struct Scale {
  float s;
  __device__ float operator()(float a) const { return s * a; }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Triad {
  float s;
  __device__ float operator()(float a, float b) const { return a + s * b; }
};
struct Mul {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct Sqrt {
  __device__ float operator()(float a) const { return sqrtf(a); }
};
struct Sin {
  __device__ float operator()(float a) const { return sinf(a); }
};
struct Sigmoid {
  __device__ float operator()(float a) const { return 1.0f / (1.0f + expf(-a)); }
};
struct Log10 {
  __device__ float operator()(float a) const { return log10f(a); }
};
struct Pow {
  float exponent;
  __device__ float operator()(float a) const { return powf(a, exponent); }
};

// Sixteen remainders of 64 bits for each float4 (they change nothing: all are of something larger).
__device__ __forceinline__ unsigned long long rest(unsigned long long i, unsigned long long m) {
  asm volatile("rem.u64 %0, %1, %2;" : "=l"(i) : "l"(i), "l"(m));
  return i;
}
__global__ void copy_kernel(const float4* a, float4* out, std::int64_t vectors) {
  unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
#pragma unroll 16
  for (int k = 0; k < 16; ++k) i = rest(i, vectors + (1ull << 40));
  out[i] = a[i];
}

}  // namespace
// END SOLUTION

void stream::copy(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write one kernel that applies a function to every element");
  if (n % 4 != 0) return map(Copy{}, n, out, a);
  copy_kernel<<<static_cast<unsigned>((n / 4 + 255) / 256), 256>>>(
      reinterpret_cast<const float4*>(a), reinterpret_cast<float4*>(out), n / 4);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the same kernel with another function, which has to know s");
  map(Scale{s}, n, out, a);
  // END SOLUTION
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let the kernel take any number of inputs");
  map(Add{}, n, out, a, b);
  // END SOLUTION
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("add s times b to a");
  map(Triad{s}, n, out, a, b);
  // END SOLUTION
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("multiply element by element");
  map(Mul{}, n, out, a, b);
  // END SOLUTION
}

void stream::sqrt(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("sqrtf; before you time it, guess how much longer it takes than copy");
  map(Sqrt{}, n, out, a);
  // END SOLUTION
}

void stream::sin(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("sinf; how many instructions is it, and does that matter?");
  map(Sin{}, n, out, a);
  // END SOLUTION
}

void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("expf; mind the sign");
  map(Sigmoid{}, n, out, a);
  // END SOLUTION
}

void stream::log10(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("log10f: the base is ten");
  map(Log10{}, n, out, a);
  // END SOLUTION
}

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("powf, the most arithmetic of all; where is its point on the roofline?");
  map(Pow{exponent}, n, out, a);
  // END SOLUTION
}
