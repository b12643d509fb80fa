#include "simgpu/device/graph_run.h"

#include <algorithm>
#include <span>
#include <utility>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/blas_operation.h"

namespace simgpu {
namespace {

using protocol::GraphNodeKind;

bool needs_guest(GraphNodeKind kind) {
  return kind == GraphNodeKind::copy_to_device || kind == GraphNodeKind::copy_from_device ||
         kind == GraphNodeKind::host;
}

bool does_work(GraphNodeKind kind) {
  return kind != GraphNodeKind::empty && kind != GraphNodeKind::event_record &&
         kind != GraphNodeKind::event_wait;
}

/// The request of a node, on the launch's stream.
template <typename Request>
Request on_stream(wire::Reader& reader, std::uint64_t stream) {
  auto request = reader.get<Request>();
  request.stream = stream;
  return request;
}

/// What is done between the two belongs to one launch of a graph, whichever request does it.
class Belonging {
 public:
  Belonging(ActivityLog& log, const ActivityLog::GraphLaunch& launch)
      : log_(log), before_(log.graph_launch()) {
    log_.resume_graph_launch(launch);
  }
  ~Belonging() { log_.resume_graph_launch(before_); }
  Belonging(const Belonging&) = delete;
  Belonging& operator=(const Belonging&) = delete;

 private:
  ActivityLog& log_;
  ActivityLog::GraphLaunch before_;
};

}  // namespace

GraphRun::GraphRun(Device& device, std::shared_ptr<const ExecutableGraph> graph,
                   std::uint64_t stream)
    : device_(device),
      graph_(std::move(graph)),
      stream_(stream),
      start_(device.timeline().earliest(stream)) {
  finished_.reserve(graph_->nodes.size());
  device_.log().begin_graph_launch();
  launch_ = device_.log().graph_launch();
  device_.log().end_graph_launch();
}

GraphRun::Finished GraphRun::start_of(const GraphNode& node) const {
  Finished start{.end = start_, .worked = false};
  for (const std::uint32_t dependency : node.dependencies) {
    const Finished& before = finished_[dependency];
    start.end = std::max(start.end, before.end);
    start.worked = start.worked || before.worked;
  }
  return start;
}

CudaError GraphRun::perform(const GraphNode& node) {
  wire::Reader reader(node.request);
  switch (node.kind) {
    case GraphNodeKind::kernel: {
      const auto message = on_stream<protocol::LaunchMessage>(reader, stream_);
      return device_.launches().launch(message, reader.rest());
    }
    case GraphNodeKind::copy_to_device:
    case GraphNodeKind::copy_from_device: {
      auto request = on_stream<protocol::CopyRequest>(reader, stream_);
      request.asynchronous = 1;
      return device_.copies().begin(request, node.kind == GraphNodeKind::copy_to_device);
    }
    case GraphNodeKind::copy_on_device:
      return device_.copies().copy_on_device(
          on_stream<protocol::DeviceCopyRequest>(reader, stream_));
    case GraphNodeKind::fill:
      return device_.copies().fill(on_stream<protocol::FillRequest>(reader, stream_));
    case GraphNodeKind::blas: {
      wire::Writer request, no_result;
      request.put(on_stream<blas::Request>(reader, stream_));
      wire::Reader on_this_stream(request.bytes());
      device_.log().count_call("cublas");
      return blas_operation(device_, on_this_stream, no_result);
    }
    case GraphNodeKind::event_record:
      return device_.timeline().record_event(reader.get<std::uint64_t>(), stream_);
    case GraphNodeKind::event_wait:
      return device_.timeline().stream_wait(stream_, reader.get<std::uint64_t>());
    case GraphNodeKind::host:
      device_.streams().host_function_runs(stream_);
      return CudaError::success;
    default:
      return CudaError::success;
  }
}

CudaError GraphRun::run_next() {
  const GraphNode& node = graph_->nodes[next_++];
  const Finished start = start_of(node);
  device_.streams().begin_node(start.end, start.worked,
                               {.launch = launch_.number,
                                .order = graph_->order,
                                .node = static_cast<std::uint32_t>(next_ - 1)});
  const CudaError error = perform(node);
  Picoseconds end = device_.streams().end_node();
  if (node.kind == GraphNodeKind::host) end += picoseconds(GraphCost::kHostNode);
  finished_.push_back({.end = end, .worked = start.worked || does_work(node.kind)});
  device_.timeline().hold(stream_, end);
  return error;
}

CudaError GraphRun::advance(protocol::GraphProgress* progress) {
  *progress = {};
  if (!device_.timeline().has_stream(stream_)) return CudaError::invalid_resource_handle;
  const Belonging belonging(device_.log(), launch_);
  // As on a GPU, a kernel that breaks the context ends what follows; the next call tells.
  while (!complete() && !device_.fault().is_raised()) {
    if (const CudaError error = run_next(); error != CudaError::success) return error;
    const GraphNodeKind kind = awaited().kind;
    if (needs_guest(kind)) {
      *progress = {.waits_for = kind, .node = static_cast<std::uint32_t>(next_ - 1)};
      break;
    }
  }
  return CudaError::success;
}

}  // namespace simgpu
