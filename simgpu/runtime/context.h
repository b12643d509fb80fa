#pragma once

#include <atomic>
#include <cstdint>
#include <tuple>

#include "simgpu/runtime/array.h"
#include "simgpu/runtime/block_table.h"
#include "simgpu/runtime/captures.h"
#include "simgpu/runtime/current_pool.h"
#include "simgpu/runtime/graph.h"
#include "simgpu/runtime/graph_exec.h"
#include "simgpu/runtime/graph_memory.h"
#include "simgpu/runtime/managed_advice.h"
#include "simgpu/runtime/texture_table.h"

namespace simgpu::runtime {

/// All that the runtime keeps of the device's current life, from its first use or the last
/// cudaDeviceReset on. A table in here is reset with all others, and does not compile unless it can
/// be: there is no list to keep of what a reset forgets.
///
/// What a reset leaves alone lies elsewhere: the connection (Client), the program's code and what
/// the program has set of its kernels (Registry), the limits that are only hints (api_device.cpp),
/// and each thread's last error.
///
/// It is emptied in place, never replaced: other threads may be in a table while one resets, and
/// the fault handler, which must not wait, may look into one at any time. For that the tables that
/// are used without the lock of all graphs have locks of their own.
class Context {
 public:
  /// The table of this type.
  template <typename Table>
  static Table& get() {
    return std::get<Table>(instance().tables_);
  }

  /// The number of the device's current life, from 1 on. What was loaded in another is not there.
  static std::uint64_t life() { return instance().life_; }

  /// After the device has been reset: the next life begins, with empty tables.
  static void reset();

 private:
  static Context& instance();

  std::atomic<std::uint64_t> life_ = 1;
  /// In the order in which they are emptied. Memory of graphs comes first: the device has freed all
  /// of it, and the nodes that go after it have none to give back. A capture names nodes of graphs
  /// and goes before these.
  std::tuple<GraphMemoryTable, Captures, ExecTable, GraphTable, DeviceBlocks, PinnedBlocks,
             ManagedAdvice, TextureTable, ArrayTable, CurrentPool>
      tables_;
};

}  // namespace simgpu::runtime
