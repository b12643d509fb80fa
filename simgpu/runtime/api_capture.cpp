#include "simgpu/runtime/api_graph.h"
#include "simgpu/runtime/capture.h"

/// Stream capture.
namespace simgpu::runtime {
namespace {

/// What cudaStreamGetCaptureInfo tells, beside the status, where there is room for it.
struct CaptureRoom {
  unsigned long long* id;
  cudaGraph_t* graph;
  const cudaGraphNode_t** dependencies;
  const cudaGraphEdgeData** edges;
  size_t* count;
};

int get_info(cudaStream_t stream, cudaStreamCaptureStatus* status, const CaptureRoom& room) {
  if (status == nullptr) return cudaErrorInvalidValue;
  const auto lock = Context::get<GraphTable>().lock();
  CaptureInfo info;
  if (const int error = capture_info(stream, &info); error != 0) return error;
  *status = info.status;
  if (info.status != cudaStreamCaptureStatusActive) return cudaSuccess;
  if (room.id != nullptr) *room.id = info.id;
  if (room.graph != nullptr) *room.graph = handle_of(info.graph);
  static_assert(sizeof(Node*) == sizeof(cudaGraphNode_t));
  if (room.dependencies != nullptr) {
    *room.dependencies = reinterpret_cast<const cudaGraphNode_t*>(info.dependencies->data());
  }
  if (room.edges != nullptr) *room.edges = nullptr;
  if (room.count != nullptr) *room.count = info.dependencies->size();
  return cudaSuccess;
}

int update_dependencies(cudaStream_t stream, cudaGraphNode_t* handles, size_t count,
                        unsigned flags) {
  const auto lock = Context::get<GraphTable>().lock();
  CaptureInfo info;
  if (const int error = capture_info(stream, &info); error != 0) return error;
  if (info.status == cudaStreamCaptureStatusNone) return cudaErrorIllegalState;
  if (info.status == cudaStreamCaptureStatusInvalidated) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node*> nodes;
  if (flags > cudaStreamSetCaptureDependencies ||
      !find_nodes(*info.graph, handles, count, &nodes)) {
    return cudaErrorInvalidValue;
  }
  if (flags == cudaStreamSetCaptureDependencies) info.dependencies->clear();
  for (Node* node : nodes) {
    if (std::ranges::find(*info.dependencies, node) == info.dependencies->end()) {
      info.dependencies->push_back(node);
    }
  }
  return cudaSuccess;
}

int begin_to_graph(cudaStream_t stream, Graph& graph, const cudaGraphNode_t* handles, size_t count,
                   cudaStreamCaptureMode mode) {
  std::vector<Node*> nodes;
  if (!find_nodes(graph, handles, count, &nodes)) return cudaErrorInvalidValue;
  return begin_capture_to(stream, mode, &graph, std::move(nodes));
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::per_thread;
using runtime::record;
using runtime::refuse;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api([&] { return runtime::begin_capture(stream, mode); });
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode mode) {
  if (!runtime::is_plain(edges, count)) return refuse("cudaStreamBeginCaptureToGraph", "ports");
  return runtime::on_graph(graph, [&](runtime::Graph& found) {
    return runtime::begin_to_graph(stream, found, dependencies, count, mode);
  });
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* edges, size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, edges, count, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api([&] { return runtime::end_capture(stream, graph); });
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(per_thread(stream), graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return api([&] { return runtime::get_info(stream, status, {}); });
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return api([&] {
    return runtime::get_info(stream, status, {id, graph, dependencies, edges, count});
  });
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** dependencies,
                                          const cudaGraphEdgeData** edges, size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, dependencies, edges,
                                  count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, size_t count,
                                                unsigned flags) {
  if (!runtime::is_plain(edges, count)) {
    return refuse("cudaStreamUpdateCaptureDependencies", "ports");
  }
  return api([&] { return runtime::update_dependencies(stream, nodes, count, flags); });
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                     const cudaGraphEdgeData* edges, size_t count,
                                                     unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), nodes, edges, count, flags);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const bool known = mode != nullptr && *mode >= cudaStreamCaptureModeGlobal &&
                     *mode <= cudaStreamCaptureModeRelaxed;
  if (!known) return record(cudaErrorInvalidValue);
  *mode = runtime::exchange_capture_mode(*mode);
  return cudaSuccess;
}

}  // extern "C"
