#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simgpu/device/device.h"
#include "simgpu/device/executable_graph.h"

namespace simgpu {

/// One launch of a graph. Nodes run in the graph's order, which respects their dependencies; their
/// times follow the dependencies alone, so that independent branches overlap. Where a node needs
/// the guest (bytes of host memory, a host function) the launch stops until the guest has done it.
class GraphRun {
 public:
  /// @param stream one that exists
  GraphRun(Device& device, std::shared_ptr<const ExecutableGraph> graph, std::uint64_t stream);

  /// Runs nodes up to the next one that needs the guest. After an error the launch is over.
  CudaError advance(protocol::GraphProgress* progress);
  bool complete() const { return next_ == graph_->nodes.size(); }
  /// The node that the guest was asked for last.
  const GraphNode& awaited() const { return graph_->nodes.at(next_ - 1); }

 private:
  struct Finished {
    Picoseconds end = 0;
    bool worked = false;  ///< it or a node before it has done something
  };

  CudaError perform(const GraphNode& node);
  Finished start_of(const GraphNode& node) const;
  CudaError run_next();

  Device& device_;
  std::shared_ptr<const ExecutableGraph> graph_;
  std::uint64_t stream_;
  Picoseconds start_;
  std::size_t next_ = 0;
  std::vector<Finished> finished_;
  ActivityLog::GraphLaunch launch_;
};

}  // namespace simgpu
