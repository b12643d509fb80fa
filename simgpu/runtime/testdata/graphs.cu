#include <cublas_v2.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

// Graphs, captured and built by hand: what they compute, and how they are changed.

__global__ void scale(float* data, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}

__global__ void add(const float* from, float* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

__global__ void out_of_bounds(float* data) { data[1 << 20] = 1.0f; }

constexpr int kCount = 256;

struct Buffer {
  float* data = nullptr;
  Buffer() {
    CHECK(cudaMalloc(&data, kCount * sizeof(float)));
    set(0.0f);
  }
  ~Buffer() { cudaFree(data); }
  void set(float value) {
    const std::vector<float> values(kCount, value);
    CHECK(cudaMemcpy(data, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  }
  /// Its one value, which all elements have.
  float get() const {
    std::vector<float> values(kCount);
    CHECK(cudaMemcpy(values.data(), data, kCount * sizeof(float), cudaMemcpyDeviceToHost));
    for (const float value : values) EXPECT(value == values[0]);
    return values[0];
  }
};

struct Stream {
  cudaStream_t stream;
  Stream() { CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Stream() { CHECK(cudaStreamDestroy(stream)); }
  operator cudaStream_t() const { return stream; }
};

template <typename Issue>
cudaGraph_t captured(cudaStream_t stream, Issue issue) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  issue();
  CHECK(cudaStreamEndCapture(stream, &graph));
  EXPECT(graph != nullptr);
  return graph;
}

cudaGraphExec_t instantiated(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void a_capture_runs_only_when_it_is_launched() {
  Buffer data;
  Stream stream;
  data.set(3.0f);
  cudaGraph_t graph = captured(stream, [&] {
    scale<<<1, kCount, 0, stream>>>(data.data, 2.0f, kCount);
    CHECK(cudaGetLastError());
    cudaStreamCaptureStatus capturing;
    unsigned long long id = 0;
    cudaGraph_t under_way = nullptr;
    const cudaGraphNode_t* dependencies = nullptr;
    size_t count = 0;
    CHECK(cudaStreamIsCapturing(stream, &capturing));
    EXPECT(capturing == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamGetCaptureInfo(stream, &capturing, &id, &under_way, &dependencies, nullptr,
                                   &count));
    EXPECT(id != 0 && under_way != nullptr && count == 1);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(dependencies[0], &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
    scale<<<1, kCount, 0, stream>>>(data.data, 5.0f, kCount);
  });
  EXPECT(data.get() == 3.0f);
  size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(nodes == 2 && edges == 1);
  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphDestroy(graph));  // what is executable does not need it
  CHECK(cudaGraphUpload(exec, stream));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(data.get() == 3000.0f);
  CHECK(cudaGraphExecDestroy(exec));
  EXPECT_ERROR(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
}

void copies_read_and_write_host_memory_at_each_launch() {
  Buffer data;
  Stream stream;
  const size_t bytes = kCount * sizeof(float);
  std::vector<float> in(kCount, 1.0f), out(kCount), moved(kCount);
  int calls = 0;
  cudaGraph_t graph = captured(stream, [&] {
    CHECK(cudaMemcpyAsync(data.data, in.data(), bytes, cudaMemcpyHostToDevice, stream));
    scale<<<1, kCount, 0, stream>>>(data.data, 2.0f, kCount);
    CHECK(cudaMemcpyAsync(out.data(), data.data, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(moved.data(), out.data(), bytes, cudaMemcpyHostToHost, stream));
    CHECK(cudaLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<int*>(count); }, &calls));
    CHECK(cudaMemsetAsync(data.data, 0, bytes, stream));
  });
  cudaGraphExec_t exec = instantiated(graph);
  EXPECT(calls == 0 && out[0] == 0.0f);
  for (int launch = 1; launch <= 2; ++launch) {
    for (float& value : in) value = static_cast<float>(launch);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(calls == launch);
    for (int i = 0; i < kCount; ++i) EXPECT(moved[i] == 2.0f * static_cast<float>(launch));
    EXPECT(data.get() == 0.0f);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void a_fork_joins_through_events() {
  Buffer left, right;
  Stream stream, other;
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  left.set(1.0f);
  right.set(10.0f);
  cudaGraph_t graph = captured(stream, [&] {
    scale<<<1, kCount, 0, stream>>>(left.data, 2.0f, kCount);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    scale<<<1, kCount, 0, other>>>(right.data, 3.0f, kCount);
    CHECK(cudaEventRecord(join, other));
    scale<<<1, kCount, 0, stream>>>(left.data, 2.0f, kCount);
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    add<<<1, kCount, 0, stream>>>(right.data, left.data, kCount);
  });
  cudaStreamCaptureStatus capturing;
  CHECK(cudaStreamIsCapturing(other, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusNone);
  size_t nodes = 0, edges = 0, roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT(nodes == 4 && edges == 4 && roots == 1);
  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(left.get() == 34.0f);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
}

void a_product_of_cublas_is_a_node() {
  Stream stream;
  cublasHandle_t handle;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  Buffer a, b, c;
  a.set(2.0f);
  b.set(3.0f);
  const int n = 16;
  const float one = 1.0f, zero = 0.0f;
  cudaGraph_t graph = captured(stream, [&] {
    EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data, n, b.data, n, &zero,
                       c.data, n) == CUBLAS_STATUS_SUCCESS);
  });
  EXPECT(c.get() == 0.0f);
  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(c.get() == 96.0f);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
}

cudaKernelNodeParams scaling(float** data, float* factor, int* count, void** arguments) {
  arguments[0] = data;
  arguments[1] = factor;
  arguments[2] = count;
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(scale);
  parameters.gridDim = 1;
  parameters.blockDim = kCount;
  parameters.kernelParams = arguments;
  return parameters;
}

void a_graph_built_by_hand() {
  Buffer data;
  Stream stream;
  float factor = 4.0f;
  int count = kCount;
  void* arguments[3];
  std::vector<float> out(kCount);
  cudaGraph_t graph;
  cudaGraphNode_t set, kernel, copy, empty;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{};
  fill.dst = data.data;
  fill.value = 0x3F800000;  // 1.0f
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  cudaKernelNodeParams parameters = scaling(&data.data, &factor, &count, arguments);
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &parameters));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, out.data(), data.data,
                                 kCount * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  const cudaGraphNode_t from[] = {kernel, empty}, to[] = {empty, copy};
  CHECK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
  EXPECT_ERROR(cudaGraphAddDependencies(graph, from, to, nullptr, 1), cudaErrorInvalidValue);

  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (const float value : out) EXPECT(value == 4.0f);

  // One node of what is executable, then all of it from another graph.
  factor = 7.0f;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters));
  fill.value = 0x40000000;  // 2.0f
  CHECK(cudaGraphExecMemsetNodeSetParams(exec, set, &fill));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (const float value : out) EXPECT(value == 14.0f);
  cudaKernelNodeParams known{};
  CHECK(cudaGraphKernelNodeGetParams(kernel, &known));
  EXPECT(known.func == reinterpret_cast<void*>(scale) && known.blockDim.x == kCount);
  EXPECT(*static_cast<float*>(known.kernelParams[1]) == 4.0f);

  cudaGraph_t clone;
  cudaGraphNode_t counterpart;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphNodeFindInClone(&counterpart, kernel, clone));
  factor = 9.0f;
  CHECK(cudaGraphKernelNodeSetParams(counterpart, &parameters));
  cudaGraphExecUpdateResultInfo result;
  CHECK(cudaGraphExecUpdate(exec, clone, &result));
  EXPECT(result.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (const float value : out) EXPECT(value == 9.0f);

  CHECK(cudaGraphRemoveDependencies(clone, &counterpart, &counterpart, nullptr, 0));
  cudaGraphNode_t other_set;
  CHECK(cudaGraphNodeFindInClone(&other_set, set, clone));
  CHECK(cudaGraphRemoveDependencies(clone, &other_set, &counterpart, nullptr, 1));
  EXPECT_ERROR(cudaGraphExecUpdate(exec, clone, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged &&
         result.errorNode == counterpart);
  CHECK(cudaGraphDestroyNode(counterpart));
  EXPECT_ERROR(cudaGraphExecUpdate(exec, clone, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT(result.result != cudaGraphExecUpdateSuccess);

  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

void a_child_graph_comes_between_its_neighbours() {
  Buffer data;
  Stream stream;
  float two = 2.0f, ten = 10.0f;
  int count = kCount;
  void* arguments[3];
  cudaGraph_t child, graph;
  cudaGraphNode_t first, second, inner, before, after, all[3];
  CHECK(cudaGraphCreate(&child, 0));
  cudaKernelNodeParams parameters = scaling(&data.data, &two, &count, arguments);
  CHECK(cudaGraphAddKernelNode(&first, child, nullptr, 0, &parameters));
  CHECK(cudaGraphAddKernelNode(&second, child, &first, 1, &parameters));
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{};
  fill.dst = data.data;
  fill.value = 0x3F800000;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&before, graph, nullptr, 0, &fill));
  CHECK(cudaGraphAddChildGraphNode(&inner, graph, &before, 1, child));
  parameters = scaling(&data.data, &ten, &count, arguments);
  CHECK(cudaGraphAddKernelNode(&after, graph, &inner, 1, &parameters));
  size_t room = 3;
  CHECK(cudaGraphGetNodes(graph, all, &room));
  EXPECT(room == 3 && all[1] == inner);
  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphDestroy(child));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(data.get() == 40.0f);
  // A capture takes no launch of an executable graph.
  cudaGraph_t none = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &none), cudaErrorStreamCaptureInvalidated);
  EXPECT(none == nullptr);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

/// Memory that a node allocates, by hand and in a capture, with its end in the graph or outside.
void memory_of_a_graph() {
  Buffer data;
  Stream stream;
  data.set(5.0f);
  const size_t bytes = kCount * sizeof(float);
  float* inside = nullptr;
  cudaGraph_t graph = captured(stream, [&] {
    CHECK(cudaMallocAsync(&inside, bytes, stream));
    CHECK(cudaMemsetAsync(inside, 0, bytes, stream));
    add<<<1, kCount, 0, stream>>>(data.data, inside, kCount);
    add<<<1, kCount, 0, stream>>>(inside, data.data, kCount);
    CHECK(cudaFreeAsync(inside, stream));
  });
  cudaGraphExec_t exec = instantiated(graph);
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(data.get() == 40.0f);
  size_t used = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == bytes);
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphLaunch(exec, stream));  // which has the memory still
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(data.get() == 80.0f);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT(used == bytes);
  CHECK(cudaDeviceGraphMemTrim(0));

  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
  parameters.bytesize = bytes;
  cudaGraphNode_t allocate, fill;
  CHECK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &parameters));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(allocate, &type));
  EXPECT(type == cudaGraphNodeTypeMemAlloc && parameters.dptr != nullptr);
  cudaMemsetParams zeros{};
  zeros.dst = parameters.dptr;
  zeros.elementSize = 4;
  zeros.width = kCount;
  zeros.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &zeros));
  exec = instantiated(graph);
  CHECK(cudaGraphLaunch(exec, stream));
  float first = 1.0f;
  CHECK(cudaMemcpyAsync(&first, parameters.dptr, 4, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(parameters.dptr, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first == 0.0f);
  EXPECT_ERROR(cudaGraphAddMemFreeNode(&fill, graph, nullptr, 0, data.data), cudaErrorInvalidValue);
  CHECK(cudaGraphAddMemFreeNode(&fill, graph, &allocate, 1, parameters.dptr));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void what_is_refused() {
  Buffer data;
  cudaGraph_t graph, other;
  cudaGraphExec_t exec;
  cudaGraphNode_t a, b, c;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&other, 0));
  CHECK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  CHECK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
  EXPECT_ERROR(cudaGraphAddEmptyNode(&c, other, &a, 1), cudaErrorInvalidValue);
  CHECK(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
  EXPECT_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);  // a cycle
  float factor = 1.0f;
  int count = kCount;
  void* arguments[3];
  cudaKernelNodeParams parameters = scaling(&data.data, &factor, &count, arguments);
  parameters.blockDim = 2000;
  EXPECT_ERROR(cudaGraphAddKernelNode(&c, other, nullptr, 0, &parameters), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphInstantiate(&exec, other, cudaGraphInstantiateFlagDeviceLaunch),
               cudaErrorNotSupported);
  CHECK(cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaGraphGetNodes(graph, nullptr, nullptr), cudaErrorInvalidValue);
  CHECK(cudaDeviceReset());
  data.data = nullptr;
  EXPECT_ERROR(cudaGraphDestroy(other), cudaErrorInvalidValue);  // the reset took it
}

// Sixty tiny kernels, one by one, as a graph in a row, and as a graph of two branches.
void times() {
  const int steps = 60;
  Buffer data, second;
  Stream stream;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  const auto issue = [&] {
    for (int i = 0; i < steps; ++i) scale<<<1, kCount, 0, stream>>>(data.data, 1.0f, kCount);
  };
  const auto time = [&](auto work) {
    float milliseconds = 0;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventRecord(start, stream));
    work();
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds * 1000.0f;
  };
  Stream other;
  cudaGraph_t branches = captured(stream, [&] {
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaStreamWaitEvent(other, start, 0));
    for (int i = 0; i < steps / 2; ++i) {
      scale<<<1, kCount, 0, stream>>>(data.data, 1.0f, kCount);
      scale<<<1, kCount, 0, other>>>(second.data, 1.0f, kCount);
    }
    CHECK(cudaEventRecord(stop, other));
    CHECK(cudaStreamWaitEvent(stream, stop, 0));
  });
  cudaGraphExec_t two = instantiated(branches);
  cudaGraph_t graph = captured(stream, issue);
  cudaGraphExec_t exec = instantiated(graph);
  std::printf("one_by_one %.6f\n", time(issue));
  std::printf("as_graph %.6f\n", time([&] { CHECK(cudaGraphLaunch(exec, stream)); }));
  std::printf("two_branches %.6f\n", time([&] { CHECK(cudaGraphLaunch(two, stream)); }));
  CHECK(cudaGraphExecDestroy(two));
  CHECK(cudaGraphDestroy(branches));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
}

void a_fault_in_a_graph() {
  Buffer data;
  Stream stream;
  cudaGraph_t graph = captured(stream, [&] {
    scale<<<1, kCount, 0, stream>>>(data.data, 1.0f, kCount);
    out_of_bounds<<<1, 1, 0, stream>>>(data.data);
    scale<<<1, kCount, 0, stream>>>(data.data, 1.0f, kCount);
  });
  cudaGraphExec_t exec = instantiated(graph);
  CHECK(cudaGraphLaunch(exec, stream));
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaStreamCreate(&stream.stream));  // the reset took the other one
  data.data = nullptr;
}

int main(int count, char** arguments) {
  const std::string what = count == 2 ? arguments[1] : "";
  if (what == "fault") {
    a_fault_in_a_graph();
  } else if (what == "refusals") {
    what_is_refused();
  } else if (what == "times") {
    times();
  } else {
    a_capture_runs_only_when_it_is_launched();
    copies_read_and_write_host_memory_at_each_launch();
    a_fork_joins_through_events();
    a_product_of_cublas_is_a_node();
    a_graph_built_by_hand();
    a_child_graph_comes_between_its_neighbours();
    memory_of_a_graph();
  }
  std::printf("graphs are right\n");
}
