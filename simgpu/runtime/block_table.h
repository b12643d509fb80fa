#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace simgpu::runtime {

/// A block that an allocation call returned. `api` is a literal.
struct KnownBlock {
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  const char* api = "";
  std::uint64_t mapped_bytes = 0;  ///< of memory that is shared with the device; 0: it is not
};

/// Blocks of memory by address.
class BlockTable {
 public:
  void add(const KnownBlock& block);
  /// @returns what it was; nothing when no block starts there
  std::optional<KnownBlock> remove(std::uint64_t base);
  /// The block that holds the address.
  std::optional<KnownBlock> find(std::uint64_t address);
  /// Nothing while the table is being changed, for the fault handler, which must not wait.
  std::optional<KnownBlock> find_without_waiting(std::uint64_t address);
  /// Takes shared memory out of this process, too.
  void clear();

 private:
  std::optional<KnownBlock> holding(std::uint64_t address);

  std::mutex mutex_;
  std::map<std::uint64_t, KnownBlock> blocks_;
};

/// What the program has allocated in the device's addresses, but for pinned host memory.
class DeviceBlocks : public BlockTable {};
/// Pinned host memory: allocated, and the program's own that it registered.
class PinnedBlocks : public BlockTable {};

}  // namespace simgpu::runtime
