#include "simgpu/runtime/graph_memory.h"

#include <algorithm>

#include "simgpu/device/timeline.h"
#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"

namespace simgpu::runtime {
namespace {

constexpr std::uint64_t kDefaultPool = 0;
constexpr std::uint64_t kLegacyStream = Timeline::kLegacyStream;

void release(std::uint64_t address) {
  Client::instance().ask(GuestOperation::pool_release, address, kLegacyStream);
  Context::get<DeviceBlocks>().remove(address);
}

struct AtExit {
  ~AtExit() { Context::get<GraphMemoryTable>().release_freed(); }
};

}  // namespace

int GraphMemory::allocate(std::size_t bytes, std::shared_ptr<GraphMemory>* memory) {
  static const AtExit at_exit;
  const Reply reply = Client::instance().ask(GuestOperation::pool_allocate, std::uint64_t{bytes},
                                             kDefaultPool, kLegacyStream);
  if (!reply.ok()) return reply.error;
  const auto address = reply.reader().get<std::uint64_t>();
  Context::get<DeviceBlocks>().add({address, bytes, "cudaMallocAsync"});
  Context::get<GraphMemoryTable>().add(address, bytes);
  memory->reset(new GraphMemory(address, bytes));  // the constructor is private
  return cudaSuccess;
}

GraphMemory::~GraphMemory() {
  if (Context::get<GraphMemoryTable>().remove(address_)) release(address_);
}

void GraphMemoryTable::add(std::uint64_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  blocks_[address] = {.bytes = bytes};
  use_.bytes += bytes;
  use_.most = std::max(use_.most, use_.bytes);
}

bool GraphMemoryTable::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  use_.bytes -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

bool GraphMemoryTable::mark_freed(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  found->second.freed = true;
  return true;
}

GraphMemoryUse GraphMemoryTable::use() {
  const std::lock_guard lock(mutex_);
  return use_;
}

void GraphMemoryTable::reset_most() {
  const std::lock_guard lock(mutex_);
  use_.most = use_.bytes;
}

void GraphMemoryTable::release_freed() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, block] : blocks_) {
    if (block.freed) release(address);
  }
  std::erase_if(blocks_, [](const auto& entry) { return entry.second.freed; });
}

void GraphMemoryTable::clear() {
  const std::lock_guard lock(mutex_);
  blocks_.clear();
  use_ = {};
}

}  // namespace simgpu::runtime
