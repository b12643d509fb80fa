// Times the solution of `stream`: `scale` at many sizes, then all ten functions at the largest one.
// Prints for each run its name, its elements, the bytes that each of them moves, and microseconds.

#include <cstdio>
#include <functional>

#include "stream.cu"
#include "toolkit/timing.h"

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 24;

float* filled() {
  float* array = nullptr;
  CUDA_CHECK(cudaMalloc(&array, kMost * sizeof(float)));
  CUDA_CHECK(cudaMemset(array, 0x3f, kMost * sizeof(float)));  // 0.747 in every element
  return array;
}

void show(const char* name, std::int64_t n, int arrays, const std::function<void()>& run) {
  const double microseconds = 1e3 * rooflab::time_ms(run, /*warmup=*/1, /*repeat=*/1);
  std::printf("%s %lld %d %.6f\n", name, static_cast<long long>(n),
              arrays * static_cast<int>(sizeof(float)), microseconds);
}

}  // namespace

int main() {
  const float *a = filled(), *b = filled();
  float* out = filled();
  const float s = 3.0f;
  for (std::int64_t n = 1 << 10; n <= kMost; n *= 4) {
    show("size", n, 2, [=] { stream::scale(a, s, out, n); });
  }
  show("copy", kMost, 2, [=] { stream::copy(a, out, kMost); });
  show("scale", kMost, 2, [=] { stream::scale(a, s, out, kMost); });
  show("add", kMost, 3, [=] { stream::add(a, b, out, kMost); });
  show("triad", kMost, 3, [=] { stream::triad(a, b, s, out, kMost); });
  show("mul", kMost, 3, [=] { stream::mul(a, b, out, kMost); });
  show("sqrt", kMost, 2, [=] { stream::sqrt(a, out, kMost); });
  show("sin", kMost, 2, [=] { stream::sin(a, out, kMost); });
  show("sigmoid", kMost, 2, [=] { stream::sigmoid(a, out, kMost); });
  show("log10", kMost, 2, [=] { stream::log10(a, out, kMost); });
  show("pow", kMost, 2, [=] { stream::pow(a, 2.5f, out, kMost); });
}
