#include <cassert>

#include "topic.h"

/// Faults of kernels, each a topic of its own: what the next calls give, and what stays.
namespace {

__device__ int g_zero;
__global__ void healthy(int* out) { *out = 7; }

__global__ void store_to(std::uintptr_t address) { *reinterpret_cast<volatile int*>(address) = 1; }
__global__ void load_from(std::uintptr_t address, int* out) {
  *out = *reinterpret_cast<volatile int*>(address);
}
__global__ void misaligned_store(char* p) { *reinterpret_cast<volatile int*>(p + 2) = 1; }
__global__ void misaligned_shared(int* out) {
  __shared__ char bytes[64];
  *reinterpret_cast<volatile int*>(bytes + 1 + g_zero) = 1;
  *out = bytes[3];
}
__global__ void misaligned_vector(float* p) {
  asm volatile(
      "st.global.v4.f32 [%0], {0f00000000, 0f00000000, 0f00000000, 0f00000000};" ::"l"(p + 1));
}
__global__ void shared_beyond(int* out, unsigned offset) {
  __shared__ int words[4];
  words[0] = 1;
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words)) + offset;
  int x = 0;
  asm volatile("st.shared.u32 [%1], 5; ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
  *out = x + words[0];
}
__global__ void local_beyond(int* out, unsigned offset) {
  int words[4] = {1, 2, 3, out[0]};
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(words) + offset;
  *reinterpret_cast<volatile int*>(at) = 3;
  *out = words[out[1] & 3];
}
__global__ void trap() { asm volatile("trap;"); }
__global__ void breakpoint() { asm volatile("brkpt;"); }
__global__ void fail_assertion(int x) { assert(x == 1); }
__device__ __noinline__ int recurse(int x, volatile int* out) {
  volatile int frame[64];
  frame[x & 63] = x;
  *out = frame[x & 63];
  return recurse(x + 1, out) + frame[(x * 3) & 63];
}
__global__ void endless_recursion(int* out) { *out = recurse(*out, out); }
__global__ void exit_before_barrier(int* out) {
  if (threadIdx.x >= 32) asm volatile("exit;");
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void half_a_warp_at_a_barrier(int* out) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  out[threadIdx.x % 8] = 1;
}
__global__ void store_constant(const int* p) { *const_cast<volatile int*>(p) = 1; }
__constant__ int c_word[4];
__global__ void read_constant(int* out) { *out = c_word[*out & 3]; }
__global__ void call_null(int* out) {
  using Function = int (*)(int);
  const Function function = reinterpret_cast<Function>(static_cast<std::uintptr_t>(*out));
  *out = function(1);
}
__global__ void call_odd(int* out) {
  using Function = int (*)(int);
  const Function function =
      reinterpret_cast<Function>(static_cast<std::uintptr_t>(*out) + 0x12345678901);
  *out = function(1);
}
__global__ void atomic_misaligned(char* p) { atomicAdd(reinterpret_cast<int*>(p + 1), 1); }
__global__ void atomic_null(int* p) { atomicAdd(p, 1); }
__global__ void divide(int* out) { *out = 5 / *out; }
__global__ void free_twice() {
  void* p = malloc(100);
  free(p);
  free(p);
}
__global__ void free_wild() { free(reinterpret_cast<void*>(0x1230)); }
__global__ void malloc_too_much(int* out) {
  *out = malloc(std::size_t{1} << 36) == nullptr ? 1 : 2;
}
__global__ void shared_generic_beyond(int* out, int offset) {
  __shared__ int words[4];
  words[threadIdx.x & 3] = 1;
  volatile int* p = words + offset;
  *p = 3;
  *out = words[0];
}

const char* g_topic = "";
void show(const char* what, cudaError_t error) {
  std::printf("%s %s -> %s\n", g_topic, what, cudaGetErrorName(error));
}

template <class Launch>
void run(const char* topic, Launch launch) {
  g_topic = topic;
  int* out = nullptr;
  int* other = nullptr;
  cudaStream_t stream = nullptr, stream2 = nullptr;
  cudaEvent_t event = nullptr;
  show("malloc", cudaMalloc(&out, 1024));
  cudaMemset(out, 0, 1024);
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  launch(out);
  show("launch", cudaPeekAtLastError());
  show("last_error_before_synchronise", cudaGetLastError());
  std::fflush(stdout);
  show("synchronise", cudaDeviceSynchronize());
  show("peek", cudaPeekAtLastError());
  show("last_error", cudaGetLastError());
  show("last_error_again", cudaGetLastError());
  show("synchronise_again", cudaDeviceSynchronize());
  int host = -1;
  const cudaError_t copied = cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  show("copy", copied);
  if (copied == cudaSuccess) std::printf("%s copied -> %d\n", topic, host);
  show("malloc_after", cudaMalloc(&other, 256));
  show("memset", cudaMemset(out, 0, 4));
  healthy<<<1, 1>>>(out);
  show("launch_after", cudaGetLastError());
  show("stream_create", cudaStreamCreate(&stream2));
  show("stream_query", cudaStreamQuery(stream));
  show("stream_synchronise", cudaStreamSynchronize(stream));
  show("stream_destroy", cudaStreamDestroy(stream));
  show("event_record", cudaEventRecord(event));
  show("event_query", cudaEventQuery(event));
  show("event_destroy", cudaEventDestroy(event));
  int device = -1, count = 0;
  show("get_device", cudaGetDevice(&device));
  show("get_device_count", cudaGetDeviceCount(&count));
  show("set_device", cudaSetDevice(0));
  cudaDeviceProp properties;
  show("properties", cudaGetDeviceProperties(&properties, 0));
  std::size_t free_bytes = 0, all_bytes = 0;
  show("memory_info", cudaMemGetInfo(&free_bytes, &all_bytes));
  cudaFuncAttributes attributes;
  show("function_attributes", cudaFuncGetAttributes(&attributes, healthy));
  cudaPointerAttributes pointer;
  show("pointer_attributes", cudaPointerGetAttributes(&pointer, out));
  void* pinned = nullptr;
  show("malloc_host", cudaMallocHost(&pinned, 64));
  show("free", cudaFree(out));
  show("free_null", cudaFree(nullptr));
  show("last_error_at_last", cudaGetLastError());
  show("reset", cudaDeviceReset());
  show("malloc_after_reset", cudaMalloc(&out, 1024));
  healthy<<<1, 1>>>(out);
  show("launch_after_reset", cudaGetLastError());
  show("synchronise_after_reset", cudaDeviceSynchronize());
}

// FAULT(name, launch of `out`)
#define FAULT(name, ...)                                                 \
  void FIDELITY_JOIN(fault_, name)() {                                   \
    run("fault_" #name, []([[maybe_unused]] int* out) { __VA_ARGS__; }); \
  }                                                                      \
  TOPIC("fault_" #name, FIDELITY_JOIN(fault_, name))

FAULT(none, healthy<<<1, 1>>>(out));
FAULT(store_null, store_to<<<1, 1>>>(0));
FAULT(store_0x10, store_to<<<1, 1>>>(0x10));
FAULT(load_null, load_from<<<1, 1>>>(0, out));
FAULT(store_far_beyond,
      store_to<<<1, 1>>>(reinterpret_cast<std::uintptr_t>(out) + (std::uintptr_t{1} << 40)));
FAULT(store_host_stack, static int x = 0; store_to<<<1, 1>>>(reinterpret_cast<std::uintptr_t>(&x)));
FAULT(misaligned_global, misaligned_store<<<1, 1>>>(reinterpret_cast<char*>(out)));
FAULT(misaligned_shared, misaligned_shared<<<1, 1>>>(out));
FAULT(misaligned_vector, misaligned_vector<<<1, 1>>>(reinterpret_cast<float*>(out)));
FAULT(misaligned_null, misaligned_store<<<1, 1>>>(nullptr));
FAULT(shared_beyond_256K, shared_beyond<<<1, 1>>>(out, 256 << 10));
FAULT(shared_beyond_allocation, shared_beyond<<<1, 1>>>(out, 2048));
FAULT(shared_generic_beyond, shared_generic_beyond<<<1, 1>>>(out, 1 << 20));
FAULT(local_far_beyond, local_beyond<<<1, 1>>>(out, 8 << 20));
FAULT(trap, trap<<<1, 1>>>());
FAULT(breakpoint, breakpoint<<<1, 1>>>());
FAULT(assertion, fail_assertion<<<1, 1>>>(0));
FAULT(assertion_and_store, fail_assertion<<<1, 1>>>(0); store_to<<<1, 1>>>(0));
FAULT(endless_recursion, endless_recursion<<<1, 1>>>(out));
FAULT(exit_before_barrier, exit_before_barrier<<<1, 64>>>(out));
FAULT(half_a_warp_at_a_barrier, half_a_warp_at_a_barrier<<<1, 64>>>(out));
FAULT(store_const_pointer, store_constant<<<1, 1>>>(out));
FAULT(store_constant_memory, void* p = nullptr; cudaGetSymbolAddress(&p, c_word);
      store_to<<<1, 1>>>(reinterpret_cast<std::uintptr_t>(p)); read_constant<<<1, 1>>>(out));
FAULT(call_null, call_null<<<1, 1>>>(out));
FAULT(call_odd, call_odd<<<1, 1>>>(out));
FAULT(atomic_misaligned, atomic_misaligned<<<1, 1>>>(reinterpret_cast<char*>(out)));
FAULT(atomic_null, atomic_null<<<1, 1>>>(nullptr));
FAULT(divide_by_zero, divide<<<1, 1>>>(out));
FAULT(device_free_twice, free_twice<<<1, 1>>>());
FAULT(device_free_wild, free_wild<<<1, 1>>>());
FAULT(device_malloc_too_much, malloc_too_much<<<1, 1>>>(out));
FAULT(use_after_free, void* p = nullptr; cudaMalloc(&p, 64 << 20); cudaFree(p);
      store_to<<<1, 1>>>(reinterpret_cast<std::uintptr_t>(p) + (32 << 20)));

}  // namespace
