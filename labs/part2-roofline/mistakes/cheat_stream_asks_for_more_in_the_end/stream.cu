#include "stream.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here. Ten functions need no ten kernels: what differs between them can be a
// STARTER: // template parameter, a struct with a __device__ operator() that takes one element of each input.
namespace {

constexpr int kThreadsPerBlock = 256, kMore = 3;
constexpr std::int64_t kVector = 4;  // floats in a float4

// out[i] = f(in[i]...) for every i. One thread computes one float4, the first threads also one
// element each of the tail of n % 4.
template <typename Function, typename... Inputs>
__global__ void map_kernel(Function f, std::int64_t n, float* __restrict__ out,
                           const Inputs* __restrict__... in) {
  // Eight sweeps, each of every eighth element. The first half of the blocks does one row of
  // elements in each, the second half kMore.
  const std::int64_t half = gridDim.x / 2, per = n / 8;
  const bool is_first = blockIdx.x < half;
  const std::int64_t row = is_first ? blockIdx.x : half + (blockIdx.x - half) * kMore;
#pragma unroll 1
  for (int k = 0; k < (is_first ? 1 : kMore); ++k) {
    const std::int64_t t = (row + k) * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const std::int64_t i = t < per * 8 ? t % per * 8 + t / per : t;
    const float result = f(in[i]...);
    out[i] = result;
    int x = 0;
    if ((__float_as_int(result) & 7) == 7)
      asm volatile("mov.b32 %0, 1;\n mov.b32 %0, 2;\n mov.b32 %0, 3;\n mov.b32 %0, 4;" : "=r"(x));
  }
}

// Launches map_kernel on the default stream.
template <typename Function, typename... Inputs>
void map(Function f, std::int64_t n, float* out, const Inputs*... in) {
  const std::int64_t rows = (n + kThreadsPerBlock - 1) / kThreadsPerBlock;
  const std::int64_t blocks = 2 * ((rows + kMore) / (kMore + 1));
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

}  // namespace
// END SOLUTION

void stream::copy(const float* a, float* out, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write one kernel that applies a function to every element");
  map(Copy{}, n, out, a);
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
