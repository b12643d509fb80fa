// A program of CUDA 12.4 as its machine code is, on a machine that has no CUDA 12: declarations are
// written out in the forms of 12.4's headers, where those differ from CUDA 13's, and structures are
// bytes. Prints one line for each thing that it learns.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
struct Extent {
  unsigned x, y, z;
};

extern "C" {
int cudaRuntimeGetVersion(int* version);
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaPointerGetAttributes(void* attributes, const void* pointer);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream);
int cudaMemRangeGetAttribute(void* data, std::size_t bytes, int attribute, const void* pointer,
                             std::size_t range);
int cudaFree(void* pointer);
int cudaStreamCreate(cudaStream_t* stream);
int cudaStreamDestroy(cudaStream_t stream);
int cudaEventCreate(cudaEvent_t* event);
int cudaEventDestroy(cudaEvent_t event);
int cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
int cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
int cudaThreadSynchronize();
int cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
int cudaGraphDestroy(cudaGraph_t graph);
int cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                          const cudaGraphNode_t* dependencies, std::size_t count);
int cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, std::size_t count);
int cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      std::size_t* count);
int cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, void* data,
                         std::size_t* count);
int cudaStreamBeginCapture(cudaStream_t stream, int mode);
int cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
int cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* status, unsigned long long* id,
                                cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                std::size_t* count);
int cudaLibraryLoadData(void** library, const void* code, void* jit, void** jit_values, unsigned,
                        void* options, void** values, unsigned);
int cudaLibraryGetKernel(void** kernel, void* library, const char* name);
int cudaLibraryUnload(void* library);
int cudaLaunchKernel(const void* function, Extent grid, Extent block, void** arguments,
                     std::size_t shared_bytes, cudaStream_t stream);
}

namespace {

// What nvcc 12.4 makes of `if (threadIdx.x < count) x[threadIdx.x] *= 2`, in short.
constexpr const char* kTwice = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 count)
{
  .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<3>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra $done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd4], %f2;
$done:
  ret;
}
)";

void check(int error, const char* call) {
  if (error == 0) return;
  std::printf("%s failed with %d\n", call, error);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

/// Room for a structure of 12.4, with bytes behind it that nobody may write to.
template <std::size_t kBytes>
struct Room {
  Room() { bytes.fill(0x5A); }
  template <typename Value>
  Value at(std::size_t offset) const {
    Value value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  const char* state() const {
    for (std::size_t i = kBytes; i < bytes.size(); ++i) {
      if (bytes[i] != 0x5A) return "overrun";
    }
    return "within its bounds";
  }
  std::array<unsigned char, kBytes + 256> bytes;
};

void ask_properties() {
  Room<1032> properties;
  CHECK(cudaGetDeviceProperties_v2(properties.bytes.data(), 0));
  std::printf("properties of %d.%d %s: clock %d kHz, memory %d kHz, bus %d bits, fp64 1:%d\n",
              properties.at<int>(360), properties.at<int>(364), properties.state(),
              properties.at<int>(348), properties.at<int>(608), properties.at<int>(612),
              properties.at<int>(668));
}

void use_managed_memory(float* x) {
  Room<24> attributes;
  CHECK(cudaPointerGetAttributes(attributes.bytes.data(), x));
  constexpr int kPreferredLocation = 3, kDevice = 0, kCpu = -1;
  CHECK(cudaMemAdvise(x, 4096, kPreferredLocation, kDevice));
  CHECK(cudaMemPrefetchAsync(x, 4096, kCpu, nullptr));
  int preferred = 9, prefetched = 9;
  constexpr int kAskPreferred = 2, kAskPrefetched = 4;
  CHECK(cudaMemRangeGetAttribute(&preferred, sizeof preferred, kAskPreferred, x, 4096));
  CHECK(cudaMemRangeGetAttribute(&prefetched, sizeof prefetched, kAskPrefetched, x, 4096));
  std::printf("attributes %s; preferred %d, prefetched %d\n", attributes.state(), preferred,
              prefetched);
}

void launch(float* x) {
  void *library = nullptr, *kernel = nullptr;
  CHECK(cudaLibraryLoadData(&library, kTwice, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "twice"));
  unsigned count = 32;
  void* arguments[] = {&x, &count};
  for (unsigned i = 0; i < count; ++i) x[i] = static_cast<float>(i);
  cudaEvent_t start = nullptr, end = nullptr;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, nullptr));
  CHECK(cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr));
  CHECK(cudaEventRecord(end, nullptr));
  CHECK(cudaThreadSynchronize());
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime_v2(&milliseconds, start, end));
  std::printf("the kernel made %g of 31, %s\n", static_cast<double>(x[31]),
              milliseconds > 0 ? "and it took time" : "in no time");
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaLibraryUnload(library));
}

void make_graph() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first = nullptr, second = nullptr;
  CHECK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  CHECK(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
  CHECK(cudaGraphAddDependencies(graph, &first, &second, 1));
  cudaGraphNode_t from = nullptr, to = nullptr;
  std::size_t count = 1, newer_count = 0;
  CHECK(cudaGraphGetEdges(graph, &from, &to, &count));
  CHECK(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &newer_count));
  std::printf("the graph has %zu edge, %s\n", newer_count,
              count == 1 && from == first && to == second ? "as made" : "another");
  CHECK(cudaGraphDestroy(graph));
}

void capture() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, 0));
  int status = 0;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  std::size_t count = 9;
  CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &dependencies, &count));
  std::printf("the capture has status %d and %zu dependencies\n", status, count);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  std::printf("CUDA %d\n", version / 1000);
  ask_properties();
  void* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 4096, 1));
  use_managed_memory(static_cast<float*>(managed));
  launch(static_cast<float*>(managed));
  make_graph();
  capture();
  CHECK(cudaFree(managed));
}
