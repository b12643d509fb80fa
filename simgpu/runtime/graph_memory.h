#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

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

/// All memory of graphs, by address.
class GraphMemoryTable {
 public:
  void add(std::uint64_t address, std::size_t bytes);
  /// Whether it was there, and has to be given back.
  bool remove(std::uint64_t address);
  /// Whether the address is that of memory of a graph. It is then freed, by a node or by the
  /// program: when the program ends without having destroyed the graph, that is no leak.
  bool mark_freed(std::uint64_t address);
  GraphMemoryUse use();
  void reset_most();
  /// The program ends, and its graphs with it.
  void release_freed();
  /// Gives nothing back: the device has freed all of it.
  void clear();

 private:
  struct Block {
    std::size_t bytes = 0;
    bool freed = false;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Block> blocks_;
  GraphMemoryUse use_;
};

}  // namespace simgpu::runtime
