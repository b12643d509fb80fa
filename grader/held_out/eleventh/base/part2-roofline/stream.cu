#include "stream.h"

#include "toolkit/check.h"

namespace {

using Index = std::int64_t;

constexpr int kThreads = 192;
constexpr int kFour = 4;

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
  __device__ float operator()(float a, float b) const { return fmaf(s, b, a); }
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

// Thread t takes the vectors t, t + all threads, ...; the last n % 4 elements go to single threads.
template <typename F>
__global__ void map_one(F f, const float* a, float* out, Index n) {
  const Index vectors = n / kFour;
  const Index first = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  const auto* a4 = reinterpret_cast<const float4*>(a);
  auto* out4 = reinterpret_cast<float4*>(out);
  for (Index v = first; v < vectors; v += stride) {
    const float4 p = a4[v];
    out4[v] = make_float4(f(p.x), f(p.y), f(p.z), f(p.w));
  }
  const Index tail = vectors * kFour + first;
  if (tail < n) out[tail] = f(a[tail]);
}

template <typename F>
__global__ void map_two(F f, const float* a, const float* b, float* out, Index n) {
  const Index vectors = n / kFour;
  const Index first = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  const auto* a4 = reinterpret_cast<const float4*>(a);
  const auto* b4 = reinterpret_cast<const float4*>(b);
  auto* out4 = reinterpret_cast<float4*>(out);
  for (Index v = first; v < vectors; v += stride) {
    const float4 p = a4[v];
    const float4 q = b4[v];
    out4[v] = make_float4(f(p.x, q.x), f(p.y, q.y), f(p.z, q.z), f(p.w, q.w));
  }
  const Index tail = vectors * kFour + first;
  if (tail < n) out[tail] = f(a[tail], b[tail]);
}

int blocks_for(Index n) {
  const Index covered = 2 * kFour * kThreads;  // two vectors for a thread
  return static_cast<int>((n + covered - 1) / covered);
}

template <typename F>
void run(F f, const float* a, float* out, Index n) {
  map_one<<<blocks_for(n), kThreads>>>(f, a, out, n);
  CUDA_CHECK(cudaGetLastError());
}

template <typename F>
void run(F f, const float* a, const float* b, float* out, Index n) {
  map_two<<<blocks_for(n), kThreads>>>(f, a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void stream::copy(const float* a, float* out, std::int64_t n) { run(Copy{}, a, out, n); }

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  run(Scale{s}, a, out, n);
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  run(Add{}, a, b, out, n);
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  run(Triad{s}, a, b, out, n);
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  run(Mul{}, a, b, out, n);
}

void stream::sqrt(const float* a, float* out, std::int64_t n) { run(Sqrt{}, a, out, n); }

void stream::sin(const float* a, float* out, std::int64_t n) { run(Sin{}, a, out, n); }

void stream::sigmoid(const float* a, float* out, std::int64_t n) { run(Sigmoid{}, a, out, n); }

void stream::log10(const float* a, float* out, std::int64_t n) { run(Log10{}, a, out, n); }

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  run(Pow{exponent}, a, out, n);
}
