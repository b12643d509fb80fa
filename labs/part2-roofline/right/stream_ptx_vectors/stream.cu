#include "stream.h"
#include "toolkit/check.h"

struct Four {
  float v[4];
};

__device__ Four load(const float* p) {
  Four f;
  asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(f.v[0]), "=f"(f.v[1]), "=f"(f.v[2]), "=f"(f.v[3])
      : "l"(p));
  return f;
}
__device__ void store(float* p, const Four& f) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(f.v[0]), "f"(f.v[1]),
               "f"(f.v[2]), "f"(f.v[3])
               : "memory");
}

#define UNARY_KERNEL(name, expression)                                                 \
  __global__ void name(const float* a, float s, float* out, long long n) {             \
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; \
    const long long vectors = n / 4;                                                   \
    if (i >= vectors + n % 4) return;                                                  \
    if (i >= vectors) {                                                                \
      const float x = a[3 * vectors + i];                                              \
      out[3 * vectors + i] = expression;                                               \
      return;                                                                          \
    }                                                                                  \
    Four f = load(a + 4 * i);                                                          \
    for (float& x : f.v) x = expression;                                               \
    store(out + 4 * i, f);                                                             \
  }
#define BINARY_KERNEL(name, expression)                                                    \
  __global__ void name(const float* a, const float* b, float s, float* out, long long n) { \
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;     \
    const long long vectors = n / 4;                                                       \
    if (i >= vectors + n % 4) return;                                                      \
    if (i >= vectors) {                                                                    \
      const float x = a[3 * vectors + i], y = b[3 * vectors + i];                          \
      out[3 * vectors + i] = expression;                                                   \
      return;                                                                              \
    }                                                                                      \
    Four f = load(a + 4 * i);                                                              \
    const Four g = load(b + 4 * i);                                                        \
    for (int j = 0; j < 4; ++j) {                                                          \
      const float x = f.v[j], y = g.v[j];                                                  \
      f.v[j] = expression;                                                                 \
    }                                                                                      \
    store(out + 4 * i, f);                                                                 \
  }

UNARY_KERNEL(copy_kernel, x)
UNARY_KERNEL(scale_kernel, s* x)
BINARY_KERNEL(add_kernel, x + y)
BINARY_KERNEL(triad_kernel, x + s * y)
BINARY_KERNEL(mul_kernel, x* y)
UNARY_KERNEL(sqrt_kernel, sqrtf(x))
UNARY_KERNEL(sin_kernel, sinf(x))
UNARY_KERNEL(sigmoid_kernel, 1 / (1 + expf(-x)))
UNARY_KERNEL(log10_kernel, log10f(x))
UNARY_KERNEL(pow_kernel, powf(x, s))

static unsigned blocks_for(long long n) {
  return static_cast<unsigned>((n / 4 + n % 4 + 127) / 128);
}

#define LAUNCH(kernel, ...)                            \
  kernel<<<blocks_for(n), 128>>>(__VA_ARGS__, out, n); \
  CUDA_CHECK(cudaGetLastError())

void stream::copy(const float* a, float* out, std::int64_t n) { LAUNCH(copy_kernel, a, 0.0f); }
void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  LAUNCH(scale_kernel, a, s);
}
void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  LAUNCH(add_kernel, a, b, 0.0f);
}
void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  LAUNCH(triad_kernel, a, b, s);
}
void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  LAUNCH(mul_kernel, a, b, 0.0f);
}
void stream::sqrt(const float* a, float* out, std::int64_t n) { LAUNCH(sqrt_kernel, a, 0.0f); }
void stream::sin(const float* a, float* out, std::int64_t n) { LAUNCH(sin_kernel, a, 0.0f); }
void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  LAUNCH(sigmoid_kernel, a, 0.0f);
}
void stream::log10(const float* a, float* out, std::int64_t n) { LAUNCH(log10_kernel, a, 0.0f); }
void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  LAUNCH(pow_kernel, a, exponent);
}
