#include <array>
#include <cstdlib>
#include <cstring>

#include "errors.cuh"

/// The error of every call that is easily made wrong. No fault of a kernel is in here.
namespace {

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void dynamic(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;
  *out = words[0];
}
__global__ void shared_20000(int* out) {
  __shared__ int words[5000];
  words[threadIdx.x] = 1;
  __syncthreads();
  *out = words[0];
}
__constant__ int c_words[16];
__device__ int g_words[16];
void not_a_kernel() {}

void launches() {
  int* out = nullptr;
  cudaMalloc(&out, 4096);
  SHOW_LAUNCH(nothing<<<0, 1>>>());
  SHOW_LAUNCH(nothing<<<1, 0>>>());
  SHOW_LAUNCH(nothing<<<1, 1024>>>());
  SHOW_LAUNCH(nothing<<<1, 1025>>>());
  SHOW_LAUNCH(nothing<<<1, dim3(1, 1, 65)>>>());
  SHOW_LAUNCH(nothing<<<1, dim3(32, 33)>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 65535), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 65536), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 1, 65536), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 0), 1>>>());
  SHOW_LAUNCH(nothing<<<2147483648U, 1>>>());
  SHOW_LAUNCH(bounded<<<1, 128>>>());
  SHOW_LAUNCH(bounded<<<1, 129>>>());
  SHOW_LAUNCH(dynamic<<<1, 1, 49152>>>(out));
  SHOW_LAUNCH(dynamic<<<1, 1, 49153>>>(out));
  SHOW_LAUNCH(shared_20000<<<1, 1, 29152>>>(out));
  SHOW_LAUNCH(shared_20000<<<1, 1, 29153>>>(out));
  SHOW_LAUNCH(nothing<<<1, 1, 100000>>>());
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  SHOW_LAUNCH(dynamic<<<1, 1, 100000>>>(out));
  SHOW_LAUNCH(dynamic<<<1, 1, 100001>>>(out));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  SHOW(cudaFuncSetAttribute(shared_20000, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(shared_20000, cudaFuncAttributeMaxDynamicSharedMemorySize, 212448));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), 1, 1, nullptr, 0, nullptr));
  SHOW(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(1), nullptr, 0, nullptr));
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(nothing), 100000, 1, nullptr, 0,
                                   nullptr));
  cudaFuncAttributes attributes;
  SHOW(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(not_a_kernel)));
  SHOW(cudaFuncGetAttributes(&attributes, static_cast<const void*>(nullptr)));
  int blocks = 0;
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1025, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, -1, 0));
  cudaFree(out);
}

void copies() {
  char* d = nullptr;
  static char host[8192];
  cudaMalloc(&d, 4096);
  SHOW(cudaMemcpy(d, host, 4096, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host, d, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(host, d, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, d + 64, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, host + 100, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, host + 100, 64, cudaMemcpyDefault));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDefault));
  SHOW(cudaMemcpy(d, host, 64, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy(nullptr, host, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(nullptr, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, nullptr, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, nullptr, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(d + (std::size_t{1} << 40), host, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 32, 48, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 32, host, 64, 48, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 64, 0, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 64, 64, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyAsync(d, host, 64, cudaMemcpyHostToDevice, nullptr));
  SHOW(cudaMemset(d, 0, 4096));
  SHOW(cudaMemset(d, 0, 0));
  SHOW(cudaMemset(nullptr, 0, 4));
  SHOW(cudaMemset(nullptr, 0, 0));
  SHOW(cudaMemset(host, 0, 4));
  SHOW(cudaMemset2D(d, 32, 0, 64, 2));
  SHOW(cudaMemcpyToSymbol(c_words, host, 64));
  SHOW(cudaMemcpyToSymbol(c_words, host, 65));
  SHOW(cudaMemcpyToSymbol(c_words, host, 32, 40));
  SHOW(cudaMemcpyToSymbol(g_words, host, 64, 4));
  SHOW(cudaMemcpyFromSymbol(host, g_words, 65));
  SHOW(cudaMemcpyToSymbol(c_words, host, 0));
  SHOW(cudaMemcpyToSymbol(c_words, host, 64, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyToSymbol(reinterpret_cast<const void*>(host), host, 4));
  void* p = nullptr;
  std::size_t size = 0;
  SHOW(cudaGetSymbolAddress(&p, reinterpret_cast<const void*>(host)));
  SHOW(cudaGetSymbolSize(&size, reinterpret_cast<const void*>(host)));
  SHOW(cudaGetSymbolSize(&size, c_words));
  cudaFree(d);
}

/// Copies that end outside of every allocation: 1 GiB lies around no small one.
void copies_beyond() {
  char* d = nullptr;
  static char host[8 << 20];
  cudaMalloc(&d, 1000);
  SHOW(cudaMemcpy(d, host, 8 << 20, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, d, 8 << 20, cudaMemcpyDeviceToHost));
  SHOW(cudaMemset(d, 0, 8 << 20));
  SHOW(cudaMemset(d, 0, std::size_t{1} << 40));
  SHOW(cudaMemcpy(d, host, 1001, cudaMemcpyHostToDevice));
  SHOW(cudaMemset(d, 0, 1001));
  SHOW(cudaMemset(d + 999, 0, 2));
  SHOW(cudaDeviceSynchronize());
}

void frees() {
  char* d = nullptr;
  void* p = nullptr;
  int on_stack = 0;
  SHOW(cudaMalloc(&p, 0));
  std::printf("errors malloc_0 pointer -> %s\n", p == nullptr ? "null" : "not null");
  SHOW(cudaMalloc(&p, std::size_t{1} << 40));
  SHOW(cudaMalloc(&p, ~std::size_t{0}));
  SHOW(cudaMalloc(static_cast<void**>(nullptr), 4));
  SHOW(cudaMallocHost(&p, 0));
  SHOW(cudaMallocManaged(&p, 0));
  SHOW(cudaMallocManaged(&p, 64, 9));
  SHOW(cudaFree(nullptr));
  cudaMalloc(&d, 1024);
  SHOW(cudaFree(d + 4));
  SHOW(cudaFree(d + 256));
  SHOW(cudaFreeHost(d));
  SHOW(cudaFree(d));
  SHOW(cudaFree(d));
  SHOW(cudaFree(&on_stack));
  SHOW(cudaFree(reinterpret_cast<void*>(0x1234)));
  SHOW(cudaFreeHost(&on_stack));
  SHOW(cudaFreeHost(nullptr));
  cudaMallocHost(&p, 64);
  SHOW(cudaFree(p));
  SHOW(cudaFreeHost(p));
  SHOW(cudaFreeHost(p));
  cudaMallocAsync(&p, 64, nullptr);
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaFreeAsync(nullptr, nullptr));
  cudaMallocAsync(&p, 64, nullptr);
  SHOW(cudaFree(p));
  cudaMalloc(&p, 64);
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaMallocAsync(&p, 0, nullptr));
  SHOW(cudaMallocAsync(&p, std::size_t{1} << 40, nullptr));
  SHOW(cudaDeviceSynchronize());
  static char page[1 << 16];
  SHOW(cudaHostRegister(page, sizeof page, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(page, sizeof page, cudaHostRegisterDefault));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostRegister(nullptr, 64, 0));
  SHOW(cudaHostRegister(page, 0, 0));
  SHOW(cudaHostAlloc(&p, 64, 99));
}

void pointers() {
  cudaPointerAttributes a;
  int on_stack = 0;
  const auto pointer = [&](const char* what, const void* p) {
    std::memset(&a, 0x55, sizeof a);
    const cudaError_t error = cudaPointerGetAttributes(&a, p);
    std::printf("errors pointer %s -> %s", what, cudaGetErrorName(error));
    if (error == cudaSuccess) {
      std::printf(" type %d device %d device_pointer %s host_pointer %s", a.type, a.device,
                  a.devicePointer == p         ? "same"
                  : a.devicePointer == nullptr ? "null"
                                               : "other",
                  a.hostPointer == p         ? "same"
                  : a.hostPointer == nullptr ? "null"
                                             : "other");
    }
    std::printf("\n");
    cudaGetLastError();
  };
  char *device = nullptr, *pinned = nullptr, *managed = nullptr, *pooled = nullptr,
       *mapped = nullptr;
  void* symbol = nullptr;
  cudaMalloc(&device, 1024);
  cudaMallocHost(&pinned, 1024);
  cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped);
  cudaMallocManaged(&managed, 1024);
  cudaMallocAsync(&pooled, 1024, nullptr);
  cudaGetSymbolAddress(&symbol, g_words);
  pointer("device", device);
  pointer("inside_device", device + 100);
  pointer("pinned", pinned);
  pointer("mapped", mapped);
  pointer("managed", managed);
  pointer("pooled", pooled);
  pointer("symbol", symbol);
  pointer("stack", &on_stack);
  pointer("null", nullptr);
  static char page[1 << 16];
  cudaHostRegister(page, sizeof page, cudaHostRegisterDefault);
  pointer("registered", page);
  cudaHostUnregister(page);
  pointer("unregistered", page);
  cudaFree(device);
  pointer("freed_device", device);
  cudaFree(managed);
  pointer("freed_managed", managed);
}

void streams_and_events() {
  float ms = 0;
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  cudaStream_t s = nullptr;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  SHOW(cudaEventElapsedTime(&ms, a, b));
  SHOW(cudaEventQuery(a));
  SHOW(cudaEventSynchronize(a));
  cudaEventRecord(a);
  SHOW(cudaEventElapsedTime(&ms, a, b));
  cudaEventRecord(untimed);
  cudaDeviceSynchronize();
  SHOW(cudaEventElapsedTime(&ms, a, untimed));
  SHOW(cudaEventElapsedTime(&ms, a, a));
  SHOW(cudaEventElapsedTime(nullptr, a, a));
  SHOW(cudaEventRecord(nullptr));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaEventSynchronize(nullptr));
  SHOW(cudaEventCreateWithFlags(&b, 0x80));
  SHOW(cudaStreamDestroy(nullptr));
  SHOW(cudaStreamDestroy(cudaStreamLegacy));
  SHOW(cudaStreamQuery(nullptr));
  SHOW(cudaStreamSynchronize(nullptr));
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaStreamCreateWithFlags(&s, 0x40));
  SHOW(cudaStreamCreateWithPriority(&s, 0, -100));
  SHOW(cudaStreamWaitEvent(nullptr, nullptr, 0));
  SHOW(cudaStreamWaitEvent(nullptr, a, 7));
  SHOW(cudaSetDevice(99));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 40));
  cudaDeviceProp properties;
  SHOW(cudaGetDeviceProperties(&properties, 5));
}

void last_error() {
  const auto name = [](const char* what, cudaError_t error) {
    std::printf("errors last_error %s -> %s\n", what, cudaGetErrorName(error));
  };
  nothing<<<1, 2000>>>();
  name("peek_after_wrong_launch", cudaPeekAtLastError());
  name("synchronise_after_wrong_launch", cudaDeviceSynchronize());
  name("peek_still", cudaPeekAtLastError());
  nothing<<<1, 1>>>();
  name("peek_after_right_launch", cudaPeekAtLastError());
  name("malloc_0_of_wrong", cudaFree(reinterpret_cast<void*>(0x10)));
  name("peek_is_the_last", cudaPeekAtLastError());
  name("get", cudaGetLastError());
  name("get_again", cudaGetLastError());
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  name("query", cudaStreamQuery(nullptr));
  name("get_after_query", cudaGetLastError());
  for (const int code : {0,   1,   2,   9,   35,  98,  100, 101, 400, 600,
                         700, 710, 716, 719, 801, 900, 901, 908, 999, 12345}) {
    const auto error = static_cast<cudaError_t>(code);
    std::printf("errors text %d -> %s: %s\n", code, cudaGetErrorName(error),
                cudaGetErrorString(error));
  }
}

/// What might end the program, the likeliest last.
void null_results() {
  int on_stack = 0;
  SHOW(cudaPointerGetAttributes(nullptr, &on_stack));
  SHOW(cudaGetDeviceProperties(nullptr, 0));
  SHOW(cudaLaunchHostFunc(nullptr, nullptr, nullptr));
}

void errors() {
  launches();
  copies();
  frees();
  pointers();
  streams_and_events();
  last_error();
}
void errors_beyond() {
  fidelity::shown_topic() = "errors_beyond";
  copies_beyond();
}
void errors_null() {
  fidelity::shown_topic() = "errors_null";
  null_results();
}
TOPIC("errors", errors);
TOPIC("errors_null", errors_null);
TOPIC("errors_beyond", errors_beyond);

}  // namespace
