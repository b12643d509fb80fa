#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// What the guest knows of device addresses and of its own pinned host memory.
namespace simgpu::runtime {

/// Addresses that belong to the device. Of those, only memory that it shares with this process is
/// mapped here.
bool is_device_address(const void* pointer);
/// What a copy takes for memory of the device: all of it, but for pinned host memory.
bool is_device_memory(const void* pointer);
/// Whether host code may dereference it: all that is not the device's alone.
bool is_host_accessible(const void* pointer);

/// Keeps the range unmapped and turns a fault in it into a message (RL0207) before the signal takes
/// its course: a handler that the program installed earlier, or death.
void reserve_device_range();
bool device_range_is_reserved();

/// A block that an allocation call returned. `api` is a literal.
struct KnownBlock {
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  const char* api = "";
  std::uint64_t mapped_bytes = 0;  ///< of memory that is shared with the device; 0: it is not
};

void remember_device_block(const KnownBlock& block);
/// @returns what it was
std::optional<KnownBlock> forget_device_block(std::uint64_t base);
std::vector<KnownBlock> forget_device_blocks();
std::optional<KnownBlock> find_device_block(std::uint64_t address);

void remember_pinned_block(const KnownBlock& block);
/// False when no block starts there.
bool forget_pinned_block(std::uint64_t base);
/// Forgets all of them. @returns what they were
std::vector<KnownBlock> forget_pinned_blocks();
std::optional<KnownBlock> find_pinned_block(std::uint64_t address);

}  // namespace simgpu::runtime
