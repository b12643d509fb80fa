#include "simgpu/runtime/block_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simgpu/runtime/shared_memory.h"

namespace simgpu::runtime {

void BlockTable::add(const KnownBlock& block) {
  const std::lock_guard lock(mutex_);
  blocks_[block.base] = block;
}

std::optional<KnownBlock> BlockTable::remove(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(base);
  if (found == blocks_.end()) return std::nullopt;
  const KnownBlock removed = found->second;
  blocks_.erase(found);
  return removed;
}

std::optional<KnownBlock> BlockTable::find(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  return holding(address);
}

std::optional<KnownBlock> BlockTable::find_without_waiting(std::uint64_t address) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() ? holding(address) : std::nullopt;
}

void BlockTable::clear() {
  std::map<std::uint64_t, KnownBlock> removed;
  {
    const std::lock_guard lock(mutex_);
    removed = std::exchange(blocks_, {});
  }
  for (const auto& [base, block] : removed) unmap_shared(base, block.mapped_bytes);
}

std::optional<KnownBlock> BlockTable::holding(std::uint64_t address) {
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return std::nullopt;
  const KnownBlock& block = std::prev(next)->second;
  if (address - block.base >= std::max<std::size_t>(block.bytes, 1)) return std::nullopt;
  return block;
}

}  // namespace simgpu::runtime
