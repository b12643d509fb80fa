// A task library with variants: which one runs, rooflab_choose_variant() says to its host code, and
// a variable of its name to its device code.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>

#include "grader/contract/guest_call.h"

namespace {

struct Choice {
  int first, second;
  double value;
};

Choice on_host;
__constant__ Choice rooflab_chosen_variant;
__constant__ unsigned char rooflab_chosen_table[1024];
__constant__ double rooflab_chosen_value;
__managed__ Choice of_both;
__device__ unsigned blocks_done, never;

/// As device code sees it: a product by the second number, or by the value.
__global__ void scale(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Choice choice = rooflab_chosen_variant;
  const float by =
      choice.second == 0 ? static_cast<float>(choice.value) : static_cast<float>(choice.second);
  if (i < n) y[i] = by * x[i];
}

__global__ void scale_by_table(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float by = static_cast<float>(1 + rooflab_chosen_table[2] + rooflab_chosen_table[5] +
                                      rooflab_chosen_value);
  if (i < n) y[i] = by * x[i];
}

__global__ void scale_by_managed(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = static_cast<float>(of_both.second) * x[i];
}

/// The variant 9 leaves out every second element.
__global__ void copy_some(const float* x, float* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = rooflab_chosen_variant.second == 9 ? 2 : 1;
  if (i < n && i % step == 0) to[i] = x[i];
}

__global__ void overrun(float* y, int n) { y[n + threadIdx.x] = 1; }

/// Nobody ever changes what it waits for.
__global__ void spin() {
  while (*const_cast<volatile unsigned*>(&never) == 0) {
  }
}

__global__ void count_away(float* y) {
  float sum = 0;
  for (unsigned i = 1; i != 0; i += 2) sum = sum * 0.5F + static_cast<float>(i);
  y[0] = sum;
}

/// Only the block that comes last writes, and gets the count ready for the next launch; in the
/// second variant it does not.
__global__ void scale_when_all_are_there(const float* x, float* y, int n) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) is_last = atomicAdd(&blocks_done, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    y[i] = 2 * x[i];
  }
  if (threadIdx.x == 0 && rooflab_chosen_variant.second != 1) blocks_done = 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void rooflab_choose_variant(int first, int second,
                                                                              double value) {
  on_host = {first, second, value};
  of_both = on_host;
}

namespace {

void fail(int way, float* y, int n) {
  switch (way) {
    case 1:
      overrun<<<1, 32>>>(y, n);
      return;
    case 2:
      spin<<<1, 1>>>();
      return;
    case 3:
      throw std::runtime_error("a variant's own");
    case 4:
      scale<<<1, 4096>>>(y, y, n);
      return;
    case 5:
      abort();
    case 6:
      _exit(0);
    case 7:
      for (volatile int i = 0;; i = i + 1) {
      }
    case 8:
      std::this_thread::sleep_for(std::chrono::hours(1));
      return;
    case 9: {
      volatile int* const nowhere = nullptr;
      *nowhere = 1;
      return;
    }
    case 10: {
      void* kept = nullptr;
      cudaMalloc(&kept, std::size_t{1} << 30);
      overrun<<<1, 32>>>(y, n);
      return;
    }
    case 11: {
      cudaStream_t stream = nullptr;
      cudaStreamCreate(&stream);
      cudaEvent_t event = nullptr;
      cudaEventCreate(&event);
      throw std::runtime_error("with a stream and an event");
    }
    case 12:
      while (true) cudaDeviceSynchronize();
    case 13: {
      void* needed = nullptr;
      if (cudaMalloc(&needed, std::size_t{3} << 30) != cudaSuccess) abort();
      cudaFree(needed);
      return;
    }
    case 14:
      count_away<<<1, 1>>>(y);
      return;
    case 15: {
      const std::clock_t until = std::clock() + CLOCKS_PER_SEC * 6 / 10;
      while (std::clock() < until) {
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace

/// The first number says how it fails, the other two what y = by x is scaled by.
ROOFLAB_ENTRY(scale) {
  const int n = static_cast<int>(call.integer("n"));
  float* const y = call.tensor<float>("y");
  fail(on_host.first, y, n);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), y, n);
}

ROOFLAB_ENTRY(scale_when_all_are_there) {
  const int n = static_cast<int>(call.integer("n"));
  scale_when_all_are_there<<<4, 64>>>(call.tensor<const float>("x"), call.tensor<float>("y"), n);
}

/// Through memory that the first call keeps.
ROOFLAB_ENTRY(scale_through_kept) {
  static float* kept = nullptr;
  const int n = static_cast<int>(call.integer("n"));
  if (kept == nullptr) cudaMalloc(&kept, static_cast<std::size_t>(n) * sizeof(float));
  fail(on_host.first, kept, n);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), kept, n);
  cudaMemcpy(call.tensor<float>("y"), kept, static_cast<std::size_t>(n) * sizeof(float),
             cudaMemcpyDeviceToDevice);
}

ROOFLAB_ENTRY(scale_by_table) {
  const int n = static_cast<int>(call.integer("n"));
  scale_by_table<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                           n);
}

ROOFLAB_ENTRY(scale_by_managed) {
  const int n = static_cast<int>(call.integer("n"));
  scale_by_managed<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                             n);
}

ROOFLAB_ENTRY(scale_on_stream) {
  const int n = static_cast<int>(call.integer("n"));
  fail(on_host.first, call.tensor<float>("y"), n);
  scale<<<(n + 127) / 128, 128, 0, static_cast<cudaStream_t>(call.stream())>>>(
      call.tensor<const float>("x"), call.tensor<float>("y"), n);
}

ROOFLAB_ENTRY(sum_through_scratch) {
  const int n = static_cast<int>(call.integer("n"));
  float* scratch = nullptr;
  cudaMalloc(&scratch, static_cast<std::size_t>(n) * sizeof(float));
  copy_some<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), scratch, n);
  scale<<<(n + 127) / 128, 128>>>(scratch, call.tensor<float>("y"), n);
  cudaFree(scratch);
}

/// Both fail as the source is, and not in variants that have a second number.
ROOFLAB_ENTRY(overrun_at_first) {
  const int n = static_cast<int>(call.integer("n"));
  float* const y = call.tensor<float>("y");
  if (on_host.second == 0) fail(1, y, n);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), y, n);
}

ROOFLAB_ENTRY(abort_at_first) {
  const int n = static_cast<int>(call.integer("n"));
  if (on_host.second == 0) abort();
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"), n);
}

/// A task of numbers.
ROOFLAB_ENTRY(add) {
  fail(on_host.first, nullptr, 0);
  call.result("sum", call.real("a") + on_host.second + on_host.value);
}

/// Writes to its input.
ROOFLAB_ENTRY(scale_in_place) {
  const int n = static_cast<int>(call.integer("n"));
  float* const x = call.tensor<float>("x");
  scale<<<(n + 127) / 128, 128>>>(x, x, n);
  cudaMemcpy(call.tensor<float>("y"), x, static_cast<std::size_t>(n) * sizeof(float),
             cudaMemcpyDeviceToDevice);
}
