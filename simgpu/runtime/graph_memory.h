#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

/// Memory that nodes of graphs allocate. A GPU's runtime gives each such node an address when it is
/// made and memory when the graph runs. Here the memory is there from the beginning, for as long as
/// a graph that holds the node: who reads it outside the nodes in between is not told.
namespace simgpu::runtime {

class GraphMemory {
 public:
  /// @returns a cudaError_t
  static int allocate(std::size_t bytes, std::shared_ptr<GraphMemory>* memory);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

 private:
  GraphMemory(std::uint64_t address, std::size_t bytes) : address_(address), bytes_(bytes) {}

  std::uint64_t address_;
  std::size_t bytes_;
};

/// What all graphs hold, and the most that they have held.
struct GraphMemoryUse {
  std::uint64_t bytes = 0, most = 0;
};
GraphMemoryUse graph_memory_use();
void reset_most_graph_memory();

/// Whether the address is that of memory of a graph. It is then freed, by a node or by the program:
/// when the program ends without having destroyed the graph, that is no leak.
bool free_graph_memory(std::uint64_t address);
/// After cudaDeviceReset, which has freed all of it.
void forget_graph_memory();

}  // namespace simgpu::runtime
