#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simgpu/runtime/graph.h"

namespace simgpu::runtime {

/// A graph made executable: its nodes in a line, those of child graphs among them.
class GraphExec {
 public:
  /// One node, with the indices of those before it that it waits for.
  struct Item {
    const Node* node = nullptr;  ///< only a name: it may be gone
    std::uint64_t id = 0;
    Work work;
    std::vector<std::uint32_t> dependencies;
  };

  /// Sends the graph to the device. @returns a cudaError_t
  static int instantiate(const Graph& graph, unsigned long long flags, Node** culprit,
                         std::shared_ptr<GraphExec>* exec);

  /// Runs it, with what the host does in it. @returns a cudaError_t
  int launch(cudaStream_t stream) const;
  int upload(cudaStream_t stream) const;
  int destroy();
  /// Other work for one node. @returns cudaErrorInvalidValue for a node that the graph lacks, or
  /// another kind of work
  int set_work(const Node& node, Work work);
  int update(const Graph& graph, cudaGraphExecUpdateResultInfo* result);
  unsigned long long flags() const { return flags_; }

 private:
  int send_work(std::size_t index, Work work);

  std::uint64_t handle_ = 0;
  unsigned long long flags_ = 0;
  std::vector<Item> items_;
};

/// The executable graphs of the program, by handle. Whoever looks at them holds the lock of all
/// graphs.
class ExecTable {
 public:
  cudaGraphExec_t keep(std::shared_ptr<GraphExec> exec);
  std::shared_ptr<GraphExec> find(cudaGraphExec_t exec) const;
  void remove(cudaGraphExec_t exec) { execs_.erase(exec); }
  void clear() { execs_.clear(); }

 private:
  std::map<cudaGraphExec_t, std::shared_ptr<GraphExec>> execs_;
};

}  // namespace simgpu::runtime
