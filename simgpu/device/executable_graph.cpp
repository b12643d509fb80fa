#include "simgpu/device/executable_graph.h"

#include <algorithm>
#include <utility>

#include "simgpu/cublas/blas_request.h"

namespace simgpu {
namespace {

using protocol::GraphNodeHeader;
using protocol::GraphNodeKind;

/// What a node takes here beside its own bytes.
constexpr std::uint64_t kNodeOverhead = 128;

/// The host would have to wait for a result in the middle of a graph.
bool returns_to_host(const blas::Request& request) {
  const bool returns =
      request.routine == blas::Routine::dot || request.routine == blas::Routine::nrm2;
  return returns && request.result_address == 0;
}

}  // namespace

bool is_request_of(GraphNodeKind kind, std::span<const std::byte> request) {
  switch (kind) {
    case GraphNodeKind::empty:
    case GraphNodeKind::host:
      return request.empty();
    case GraphNodeKind::kernel:
      return request.size() >= sizeof(protocol::LaunchMessage);
    case GraphNodeKind::copy_to_device:
    case GraphNodeKind::copy_from_device:
      return request.size() == sizeof(protocol::CopyRequest);
    case GraphNodeKind::copy_on_device:
      return request.size() == sizeof(protocol::DeviceCopyRequest);
    case GraphNodeKind::fill:
      return request.size() == sizeof(protocol::FillRequest);
    case GraphNodeKind::blas:
      return request.size() == sizeof(blas::Request) &&
             !returns_to_host(wire::Reader(request).get<blas::Request>());
    case GraphNodeKind::event_record:
    case GraphNodeKind::event_wait:
      return request.size() == sizeof(std::uint64_t);
    default:
      return false;
  }
}

GraphOrder::GraphOrder(const std::vector<GraphNode>& nodes) {
  const auto follows = [&](std::size_t node) {
    return std::ranges::count(nodes[node].dependencies, node - 1) != 0;
  };
  bool chain = true;
  for (std::size_t node = 1; node < nodes.size(); ++node) chain = chain && follows(node);
  is_known_ = chain || nodes.size() <= kMostNodes;
  if (chain || !is_known_) return;
  before_.assign(nodes.size(), std::vector<std::uint64_t>((nodes.size() + 63) / 64));
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::vector<std::uint64_t>& own = before_[node];
    for (const std::uint32_t dependency : nodes[node].dependencies) {
      for (std::size_t i = 0; i < own.size(); ++i) own[i] |= before_[dependency][i];
      own[dependency / 64] |= std::uint64_t{1} << dependency % 64;
    }
  }
}

CudaError GraphTable::add_nodes(wire::Reader& reader) {
  while (!reader.empty()) {
    const auto header = reader.get<GraphNodeHeader>();
    const std::uint64_t dependency_bytes =
        std::uint64_t{header.dependencies} * sizeof(std::uint32_t);
    GraphNode node{.kind = header.kind, .dependencies = {}, .request = {}};
    wire::Reader dependencies(reader.take(dependency_bytes));
    const auto request = reader.take(header.bytes);
    const std::uint64_t bytes = kNodeOverhead + dependency_bytes + request.size();
    if (!has_room(bytes)) return CudaError::memory_allocation;
    if (!is_request_of(header.kind, request)) return CudaError::invalid_value;
    node.dependencies.resize(header.dependencies);
    for (std::uint32_t& dependency : node.dependencies) {
      dependency = dependencies.get<std::uint32_t>();
      if (dependency >= described_.nodes.size()) return CudaError::invalid_value;
    }
    node.request.assign(request.begin(), request.end());
    described_.bytes += bytes;
    described_.nodes.push_back(std::move(node));
  }
  return CudaError::success;
}

CudaError GraphTable::end(std::uint64_t* handle) {
  if (graphs_.size() >= protocol::kMaxGraphs) return CudaError::memory_allocation;
  *handle = next_handle_++;
  described_.order = std::make_shared<const GraphOrder>(described_.nodes);
  stored_bytes_ += described_.bytes;
  graphs_[*handle] = std::make_shared<ExecutableGraph>(std::exchange(described_, {}));
  return CudaError::success;
}

CudaError GraphTable::destroy(std::uint64_t handle) {
  const auto found = graphs_.find(handle);
  if (found == graphs_.end()) return CudaError::invalid_resource_handle;
  stored_bytes_ -= found->second->bytes;
  graphs_.erase(found);
  return CudaError::success;
}

CudaError GraphTable::set_node(std::uint64_t handle, std::uint64_t node,
                               std::span<const std::byte> request) {
  const auto found = graphs_.find(handle);
  if (found == graphs_.end()) return CudaError::invalid_resource_handle;
  ExecutableGraph& graph = *found->second;
  if (node >= graph.nodes.size()) return CudaError::invalid_value;
  GraphNode& changed = graph.nodes[node];
  if (!is_request_of(changed.kind, request)) return CudaError::invalid_value;
  if (!has_room(request.size())) return CudaError::memory_allocation;
  graph.bytes += request.size() - changed.request.size();
  stored_bytes_ += request.size() - changed.request.size();
  changed.request.assign(request.begin(), request.end());
  return CudaError::success;
}

std::shared_ptr<const ExecutableGraph> GraphTable::find(std::uint64_t handle) const {
  const auto found = graphs_.find(handle);
  return found == graphs_.end() ? nullptr : found->second;
}

}  // namespace simgpu
