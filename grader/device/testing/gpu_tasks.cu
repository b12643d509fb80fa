// A task library with GPU code: right, unfinished, and wrong in the ways that a device notices.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "grader/contract/guest_call.h"
#include "labs/toolkit/todo.h"

namespace {

__global__ void scale(const float* x, float* y, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = alpha * x[i];
  }
}

__global__ void spin(volatile float* y) {
  while (y[0] != 12345.0F) {
  }
}

__device__ float kept_by_all[1 << 16];

__global__ void keep(const float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) kept_by_all[i] = x[i];
}

__global__ void scale_kept(float* y, float alpha, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = alpha * kept_by_all[i];
}

/// So much work, in each block another amount, that a timed call of it is not simulated as a whole.
__global__ void scale_slowly(const float* x, float* y, float alpha, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) % n;
  const unsigned rounds = 5000 + (blockIdx.x * 2654435769U >> 20);
  float sum = 0;
  for (unsigned round = 0; round < rounds; ++round) sum = sum * 0.5F + x[i];
  y[i] = sum > 1e30F ? 0.0F : alpha * x[i];
}

__global__ void count_away(const float* x, float* y, unsigned end) {
  float sum = 0;
  for (unsigned i = 1; i != end; i += 2) sum += x[i % 4];
  y[threadIdx.x] = sum;
}

__global__ void overrun(float* y, int n) { y[n + threadIdx.x] = 1; }

__global__ void greet() { printf("thread %d\n", static_cast<int>(threadIdx.x)); }

int size_of(rooflab::GuestCall& call) { return static_cast<int>(call.integer("n")); }

}  // namespace

ROOFLAB_ENTRY(scale) {
  const int n = size_of(call);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                  static_cast<float>(call.real("alpha")), n);
}

/// On the stream that the parameter `on` says, beside the one that the caller gives; the default
/// stream is the caller's where it gives none.
ROOFLAB_ENTRY(scale_on_stream) {
  const int n = size_of(call);
  const std::string& on = call.text("on");
  auto* const given = static_cast<cudaStream_t>(call.stream());
  cudaStream_t stream = on == "given" ? given : nullptr;
  cudaEvent_t done = nullptr;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  const bool is_forked = on == "joined" || on == "never joined";
  const bool is_own = is_forked || on == "own" || on == "blocking";
  if (is_own) {
    cudaStreamCreateWithFlags(&stream,
                              on == "blocking" ? cudaStreamDefault : cudaStreamNonBlocking);
  }
  if (is_forked) {
    cudaEventRecord(done, given);
    cudaStreamWaitEvent(stream, done, 0);
  }
  if (on == "default, waiting") cudaStreamSynchronize(given);
  scale<<<(n + 127) / 128, 128, 0, stream>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                             static_cast<float>(call.real("alpha")), n);
  if (on == "default, waiting") cudaDeviceSynchronize();
  if (on == "joined") {
    cudaEventRecord(done, stream);
    cudaStreamWaitEvent(given, done, 0);
  }
  cudaEventDestroy(done);
  if (is_own) cudaStreamDestroy(stream);
}

/// Right alone, and not where two calls run at the same time.
ROOFLAB_ENTRY(scale_through_device_array) {
  const int n = size_of(call);
  auto* const stream = static_cast<cudaStream_t>(call.stream());
  keep<<<(n + 127) / 128, 128, 0, stream>>>(call.tensor<const float>("x"), n);
  scale_kept<<<(n + 127) / 128, 128, 0, stream>>>(call.tensor<float>("y"),
                                                  static_cast<float>(call.real("alpha")), n);
}

/// Reads what nobody wrote, from the second call on: the scratch of the first one counts as
/// written.
ROOFLAB_ENTRY(scale_through_scratch) {
  static float* kept = nullptr;
  const int n = size_of(call);
  const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
  if (kept == nullptr) {
    cudaMalloc(&kept, bytes);
    scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), kept, 1.0F, n);
  }
  scale<<<(n + 127) / 128, 128>>>(kept, call.tensor<float>("y"),
                                  static_cast<float>(call.real("alpha")), n);
}

ROOFLAB_ENTRY(scale_in_place) {
  const int n = size_of(call);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<float>("x"), call.tensor<float>("x"), 2.0F, n);
}

ROOFLAB_ENTRY(stub) {
  (void)call;
  rooflab::todo("launch a kernel");
}

ROOFLAB_ENTRY(scale_slowly) {
  scale_slowly<<<2000, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                              static_cast<float>(call.real("alpha")), size_of(call));
}

// The second launch would change what the first one stored.
ROOFLAB_ENTRY(scale_slowly_twice) {
  for (int i = 0; i < 2; ++i) {
    scale_slowly<<<2000, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                static_cast<float>(call.real("alpha")), size_of(call));
  }
}

ROOFLAB_ENTRY(count_away) {
  count_away<<<1, 32>>>(call.tensor<const float>("x"), call.tensor<float>("y"), 8);
}

ROOFLAB_ENTRY(endless_kernel) { spin<<<1, 32>>>(call.tensor<float>("y")); }

// Claims to have come back while the GPU still works.
ROOFLAB_ENTRY(forges_a_reply) {
  spin<<<1, 32>>>(call.tensor<float>("y"));
  const char reply[] =
      R"({"status":"returned","detail":"","cuda_error":"","results":{},"elapsed_us":1})"
      "\n";
  [[maybe_unused]] const ssize_t written = write(3, reply, sizeof(reply) - 1);
}

ROOFLAB_ENTRY(endless_host) {
  (void)call;
  for (volatile int i = 0;;) {
    (void)i;
  }
}

ROOFLAB_ENTRY(overrun) { overrun<<<1, 1>>>(call.tensor<float>("y"), size_of(call)); }

ROOFLAB_ENTRY(bad_launch) {
  (void)call;
  greet<<<1, 5000>>>();
}

ROOFLAB_ENTRY(prints) {
  (void)call;
  greet<<<1, 2>>>();
  std::printf("from the host\n");
}

ROOFLAB_ENTRY(dereferences) {
  call.result("first", static_cast<double>(call.tensor<float>("x")[0]));
}

ROOFLAB_ENTRY(scale_once) {
  static bool first = true;
  const int n = size_of(call);
  if (first) {
    scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                    static_cast<float>(call.real("alpha")), n);
  }
  first = false;
}

ROOFLAB_ENTRY(overrun_the_second_time) {
  static int calls = 0;
  const int n = size_of(call);
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), call.tensor<float>("y"),
                                  static_cast<float>(call.real("alpha")), n);
  if (++calls == 2) overrun<<<1, 32>>>(call.tensor<float>("y"), n);
}

/// As a CUDA graph does that is captured in the first call and launched again in each.
ROOFLAB_ENTRY(scale_where_the_first_call_was) {
  static const auto* const x = call.tensor<const float>("x");
  static auto* const y = call.tensor<float>("y");
  const int n = size_of(call);
  scale<<<(n + 127) / 128, 128>>>(x, y, static_cast<float>(call.real("alpha")), n);
}

ROOFLAB_ENTRY(scale_through_a_buffer_of_the_first_size) {
  static float* kept = nullptr;
  const int n = size_of(call);
  if (kept == nullptr) cudaMalloc(&kept, static_cast<std::size_t>(n) * sizeof(float));
  scale<<<(n + 127) / 128, 128>>>(call.tensor<const float>("x"), kept, 1.0F, n);
  scale<<<(n + 127) / 128, 128>>>(kept, call.tensor<float>("y"),
                                  static_cast<float>(call.real("alpha")), n);
}

/// Keeps its result by the address of its input.
ROOFLAB_ENTRY(scale_what_is_new) {
  static const float* last = nullptr;
  const auto* x = call.tensor<const float>("x");
  const int n = size_of(call);
  if (x != last) {
    scale<<<(n + 127) / 128, 128>>>(x, call.tensor<float>("y"),
                                    static_cast<float>(call.real("alpha")), n);
  }
  last = x;
}
