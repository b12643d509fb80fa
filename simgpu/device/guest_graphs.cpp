// What a guest may ask of its graphs.

#include "simgpu/device/guest_session.h"

namespace simgpu {

CudaError GuestSession::graph_operation(Operation operation, wire::Reader& reader,
                                        wire::Writer& writer) {
  GraphTable& graphs = device_.graphs();
  switch (operation) {
    case Operation::graph_begin:
      graphs.begin();
      return CudaError::success;
    case Operation::graph_nodes: {
      const CudaError error = graphs.add_nodes(reader);
      reader.rest();
      return error;
    }
    case Operation::graph_end: {
      std::uint64_t handle = 0;
      const CudaError error = graphs.end(&handle);
      if (error != CudaError::success) return error;
      const auto nodes = static_cast<double>(graphs.find(handle)->nodes.size());
      device_.timeline().spend(GraphCost::kInstantiate + nodes * GraphCost::kInstantiateNode);
      writer.put(handle);
      return CudaError::success;
    }
    case Operation::graph_destroy:
      return graphs.destroy(reader.get<std::uint64_t>());
    case Operation::graph_set_node: {
      const auto graph = reader.get<std::uint64_t>();
      const auto node = reader.get<std::uint64_t>();
      device_.timeline().spend(GraphCost::kSetNode);
      return graphs.set_node(graph, node, reader.rest());
    }
    case Operation::graph_update: {
      const auto graph = graphs.find(reader.get<std::uint64_t>());
      if (graph == nullptr) return CudaError::invalid_resource_handle;
      device_.timeline().spend(GraphCost::kUpdate +
                               static_cast<double>(graph->nodes.size()) * GraphCost::kUpdateNode);
      return CudaError::success;
    }
    case Operation::graph_continue:
      return continue_graph(writer);
    case Operation::graphs_kept:
      device_.note_graphs_kept(reader.get<std::uint64_t>());
      return CudaError::success;
    default:
      return launch_graph(operation, reader, writer);
  }
}

/// cudaGraphUpload and cudaGraphLaunch. The graph lies on the device already, so that an upload
/// takes what any call does.
CudaError GuestSession::launch_graph(Operation operation, wire::Reader& reader,
                                     wire::Writer& writer) {
  auto graph = device_.graphs().find(reader.get<std::uint64_t>());
  const auto stream = reader.get<std::uint64_t>();
  if (graph == nullptr) return CudaError::invalid_value;
  Timeline& timeline = device_.timeline();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  timeline.spend(GraphCost::kLaunch +
                 static_cast<double>(graph->nodes.size()) * GraphCost::kLaunchNode);
  if (operation == Operation::graph_upload) return CudaError::success;
  graph_run_.emplace(device_, std::move(graph), stream);
  return continue_graph(writer);
}

CudaError GuestSession::continue_graph(wire::Writer& writer) {
  if (!graph_run_) return CudaError::invalid_value;
  protocol::GraphProgress progress;
  const CudaError error = graph_run_->advance(&progress);
  writer.put(progress);
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
