#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <variant>
#include <vector>

#include "simgpu/runtime/copy.h"
#include "simgpu/runtime/graph_memory.h"
#include "simgpu/runtime/kernel_work.h"

/// Graphs as a program builds them, by hand or by capture: they live in the program, for they are
/// its own description of what it will ask for. What is launched lies in the device process.
namespace simgpu::runtime {

class Graph;

struct BlasWork {
  std::vector<std::byte> request;
};
struct EventRecordWork {
  cudaEvent_t event = nullptr;
};
struct EventWaitWork {
  cudaEvent_t event = nullptr;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;  ///< the node's own copy
};
struct EmptyWork {};
struct AllocationWork {
  std::shared_ptr<GraphMemory> memory;
};
struct ReleaseWork {
  void* pointer = nullptr;
};

/// What a node does. A library's routine is a kernel to those who ask for a node's type.
using Work = std::variant<EmptyWork, KernelWork, Copy, Fill, BlasWork, EventRecordWork,
                          EventWaitWork, HostWork, ChildWork, AllocationWork, ReleaseWork>;
cudaGraphNodeType type_of(const Work& work);

struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> dependencies;
  std::uint64_t id = 0;          ///< no two nodes of a program share it
  std::uint64_t origin = 0;      ///< the id of the node that this one was cloned from
  std::vector<void*> arguments;  ///< that cudaGraphKernelNodeGetParams gave out
};

inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }
inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }

/// Nodes in order of their creation.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Node* add(Work work, std::vector<Node*> dependencies);
  void remove(Node* node);
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  std::shared_ptr<Graph> clone() const;
  /// Dependencies first, otherwise in order of creation; shorter than nodes() if there is a cycle.
  std::vector<Node*> in_order() const;

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// The graphs that a program has made, and whether a handle is one of them. All functions of
/// graphs and of capture hold its lock while they look at either.
class GraphTable {
 public:
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  cudaGraph_t keep(std::shared_ptr<Graph> graph);
  bool destroy(cudaGraph_t graph);
  /// nullptr for what is no graph, or no longer one.
  Graph* find(cudaGraph_t graph) const;
  Node* find(cudaGraphNode_t node) const;
  void clear();

 private:
  friend class Graph;
  std::recursive_mutex mutex_;
  std::vector<std::shared_ptr<Graph>> kept_;
  std::set<const Graph*> graphs_;  ///< those of child nodes too
  std::set<const Node*> nodes_;
  std::uint64_t next_id_ = 1;
};

}  // namespace simgpu::runtime
