// What a guest may ask of its graphs.

#include "simgpu/device/guest_session.h"

namespace simgpu {

CudaError GuestSession::graph_begin(Call& /*call*/) {
  device_.graphs().begin();
  return CudaError::success;
}

CudaError GuestSession::graph_nodes(Call& call) {
  const CudaError error = device_.graphs().add_nodes(call.request);
  call.request.rest();
  return error;
}

CudaError GuestSession::graph_end(Call& call) {
  GraphTable& graphs = device_.graphs();
  std::uint64_t handle = 0;
  const CudaError error = graphs.end(&handle);
  if (error != CudaError::success) return error;
  const auto nodes = static_cast<double>(graphs.find(handle)->nodes.size());
  device_.timeline().spend(GraphCost::kInstantiate + nodes * GraphCost::kInstantiateNode);
  call.answer.put(handle);
  return CudaError::success;
}

CudaError GuestSession::graph_destroy(Call& call) {
  return device_.graphs().destroy(call.request.get<std::uint64_t>());
}

CudaError GuestSession::graph_set_node(Call& call) {
  const auto graph = call.request.get<std::uint64_t>();
  const auto node = call.request.get<std::uint64_t>();
  device_.timeline().spend(GraphCost::kSetNode);
  return device_.graphs().set_node(graph, node, call.request.rest());
}

CudaError GuestSession::graph_update(Call& call) {
  const auto graph = device_.graphs().find(call.request.get<std::uint64_t>());
  if (graph == nullptr) return CudaError::invalid_resource_handle;
  device_.timeline().spend(GraphCost::kUpdate +
                           static_cast<double>(graph->nodes.size()) * GraphCost::kUpdateNode);
  return CudaError::success;
}

/// The graph lies on the device already, so that an upload takes what any call does.
CudaError GuestSession::graph_upload(Call& call) { return issue_graph(false, call); }

CudaError GuestSession::graph_launch(Call& call) { return issue_graph(true, call); }

CudaError GuestSession::issue_graph(bool runs, Call& call) {
  auto graph = device_.graphs().find(call.request.get<std::uint64_t>());
  const auto stream = call.request.get<std::uint64_t>();
  if (graph == nullptr) return CudaError::invalid_value;
  Timeline& timeline = device_.timeline();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  timeline.spend(GraphCost::kLaunch +
                 static_cast<double>(graph->nodes.size()) * GraphCost::kLaunchNode);
  if (!runs) return CudaError::success;
  graph_run_.emplace(device_, std::move(graph), stream);
  return graph_continue(call);
}

CudaError GuestSession::graph_continue(Call& call) {
  if (!graph_run_) return CudaError::invalid_value;
  protocol::GraphProgress progress;
  const CudaError error = graph_run_->advance(&progress);
  call.answer.put(progress);
  if (error != CudaError::success || progress.waits_for == protocol::GraphNodeKind::empty) {
    graph_run_.reset();
    return error;
  }
  if (progress.waits_for != protocol::GraphNodeKind::host) {
    // Its range has been checked; copy_more moves the bytes.
    wire::Reader request(graph_run_->awaited().request);
    transfer_ = {};
    transfer_.request = request.get<protocol::CopyRequest>();
    transfer_.to_device = progress.waits_for == protocol::GraphNodeKind::copy_to_device;
    transfer_.total = transfer_.request.width * transfer_.request.height;
  }
  return CudaError::success;
}

}  // namespace simgpu
