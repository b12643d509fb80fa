#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"

namespace simgpu {

/// One piece of work of an executable graph.
struct GraphNode {
  protocol::GraphNodeKind kind = protocol::GraphNodeKind::empty;
  std::vector<std::uint32_t> dependencies;  ///< nodes before this one
  std::vector<std::byte> request;           ///< as the kind says; its lengths have been checked
};

/// Which nodes of a graph come before which, by its edges and by nothing else. Nodes of a graph of
/// more than kMostNodes all count as ordered.
class GraphOrder {
 public:
  static constexpr std::size_t kMostNodes = 4096;

  explicit GraphOrder(const std::vector<GraphNode>& nodes);
  /// Whether some node has no path to the next one.
  bool branches() const { return !before_.empty(); }
  /// False where there are too many nodes: they count as ordered, and need not be.
  bool is_known() const { return is_known_; }
  /// Whether a path leads from the earlier node to the later one.
  bool is_before(std::uint32_t earlier, std::uint32_t later) const {
    return before_.empty() || (before_[later][earlier / 64] >> earlier % 64 & 1U) != 0;
  }

 private:
  bool is_known_ = true;
  std::vector<std::vector<std::uint64_t>> before_;  ///< by node: a bit for each node before it
};

/// What cudaGraphInstantiate makes: nodes in an order that respects their dependencies, so that no
/// graph has a cycle.
struct ExecutableGraph {
  std::vector<GraphNode> nodes;
  std::shared_ptr<const GraphOrder> order;  ///< of the nodes
  std::uint64_t bytes = 0;                  ///< as a guest sent it, with what keeping it takes
};

/// Whether the bytes are a request of this kind: long enough, and asking for nothing that a node
/// cannot do.
bool is_request_of(protocol::GraphNodeKind kind, std::span<const std::byte> request);

/// The graphs of one guest, and the one that it is describing. Bounded in number and bytes.
class GraphTable {
 public:
  void begin() { described_ = {}; }
  /// Further nodes of the graph under way. @throws wire::MessageError when they are cut off
  CudaError add_nodes(wire::Reader& reader);
  /// The graph under way becomes executable.
  CudaError end(std::uint64_t* handle);
  CudaError destroy(std::uint64_t handle);
  /// Another request of the same kind for a node.
  CudaError set_node(std::uint64_t handle, std::uint64_t node, std::span<const std::byte> request);
  /// Shared: a launch under way keeps it. nullptr if there is none of that handle.
  std::shared_ptr<const ExecutableGraph> find(std::uint64_t handle) const;
  std::size_t count() const { return graphs_.size(); }

 private:
  bool has_room(std::uint64_t bytes) const {
    return bytes <= protocol::kMaxGraphBytes - described_.bytes - stored_bytes_;
  }

  ExecutableGraph described_;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t next_handle_ = 1;
  std::map<std::uint64_t, std::shared_ptr<ExecutableGraph>> graphs_;
};

}  // namespace simgpu
