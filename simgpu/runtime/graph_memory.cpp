#include "simgpu/runtime/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "simgpu/device/timeline.h"
#include "simgpu/runtime/api.h"
#include "simgpu/runtime/device_range.h"

namespace simgpu::runtime {
namespace {

constexpr std::uint64_t kDefaultPool = 0;
constexpr std::uint64_t kLegacyStream = Timeline::kLegacyStream;

void release(std::uint64_t address) {
  Client::instance().ask(GuestOperation::pool_release, address, kLegacyStream);
  forget_device_block(address);
}

/// All memory of graphs, by address.
class Blocks {
 public:
  /// Never destroyed: programs call the runtime from their own static destructors.
  static Blocks& instance() {
    static Blocks& blocks = *new Blocks;  // NOLINT(cppcoreguidelines-owning-memory)
    return blocks;
  }
  void add(std::uint64_t address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    blocks_[address] = {.bytes = bytes};
    use_.bytes += bytes;
    use_.most = std::max(use_.most, use_.bytes);
  }
  /// Whether it was there, and has to be given back.
  bool remove(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return false;
    use_.bytes -= found->second.bytes;
    blocks_.erase(found);
    return true;
  }
  bool mark_freed(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return false;
    found->second.freed = true;
    return true;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    blocks_.clear();
    use_ = {};
  }
  GraphMemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }
  void reset_most() {
    const std::lock_guard lock(mutex_);
    use_.most = use_.bytes;
  }
  /// The program ends, and its graphs with it.
  void release_freed() {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, block] : blocks_) {
      if (block.freed) release(address);
    }
    std::erase_if(blocks_, [](const auto& entry) { return entry.second.freed; });
  }

 private:
  struct Block {
    std::size_t bytes = 0;
    bool freed = false;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Block> blocks_;
  GraphMemoryUse use_;
};

struct AtExit {
  ~AtExit() { Blocks::instance().release_freed(); }
};

}  // namespace

int GraphMemory::allocate(std::size_t bytes, std::shared_ptr<GraphMemory>* memory) {
  static const AtExit at_exit;
  const Reply reply = Client::instance().ask(GuestOperation::pool_allocate, std::uint64_t{bytes},
                                             kDefaultPool, kLegacyStream);
  if (!reply.ok()) return reply.error;
  const auto address = reply.reader().get<std::uint64_t>();
  remember_device_block({address, bytes, "cudaMallocAsync"});
  Blocks::instance().add(address, bytes);
  memory->reset(new GraphMemory(address, bytes));  // the constructor is private
  return cudaSuccess;
}

GraphMemory::~GraphMemory() {
  if (Blocks::instance().remove(address_)) release(address_);
}

GraphMemoryUse graph_memory_use() { return Blocks::instance().use(); }
void reset_most_graph_memory() { Blocks::instance().reset_most(); }
bool free_graph_memory(std::uint64_t address) { return Blocks::instance().mark_freed(address); }
void forget_graph_memory() { Blocks::instance().clear(); }

}  // namespace simgpu::runtime
