#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/report.h"
#include "simgpu/settled_bytes.h"
#include "specs/gpu_spec.h"

/// Memory that the host shares with kernels. Pinned memory is the host's: whatever a kernel reads
/// or writes there crosses PCIe. Managed memory goes to and fro: what the host has written crosses
/// PCIe when the device needs it next.
namespace simgpu {

/// What managed memory held when the device was done with it last. Nobody sees the host's stores;
/// what is different later, the host has written. It stays the host's until the device works on it.
/// Nothing is kept while there is no memory that the host shares.
class ManagedContents {
 public:
  /// The device is done with a launch, a copy or a fill that worked on these ranges.
  void keep(const DeviceMemory& memory, std::vector<ByteRange> touched);
  /// What the host has written since the device worked on it, in whole sectors, in order. Of more
  /// memory than is kept: all.
  std::vector<ByteRange> written_by_host(const DeviceMemory& memory) const;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> kept_;  ///< by the allocation's address
  std::vector<ByteRange> waiting_;  ///< what the host wrote before that, and nobody asked for
};

/// Where a launch read or wrote memory. Of one of which only some blocks ran, whole allocations.
std::vector<ByteRange> touched_bytes(const LaunchResult& result, const DeviceMemory& memory);

/// Whether what lies at an address comes from the host: in pinned memory all, in managed memory
/// what the host has written.
bool comes_from_host(const DeviceMemory& memory, const std::vector<ByteRange>& written_by_host,
                     std::uint64_t address, std::uint64_t bytes);

/// Whether the host can reach an allocation without a copy.
bool is_shared_with_host(const DeviceMemory& memory, std::uint64_t address);

/// The bytes of each sector of memory that the host can reach of which `bytes` tells, read or
/// changed ones, in order; nothing of very many ranges.
std::vector<ByteRange> ranges_shared_with_host(const std::vector<TouchedSector>& sectors,
                                               std::uint32_t TouchedSector::*bytes,
                                               const DeviceMemory& memory);

/// What the record of a copy within the device's addresses says.
MemoryOperation copy_kind(bool to_host, bool from_host);

/// What a launch read and wrote of memory that the host shares.
struct HostTraffic {
  double read_bytes = 0;     ///< that come from the host
  double pinned_bytes = 0;   ///< written to pinned memory
  double managed_bytes = 0;  ///< written to managed memory, where the host may read them
};

/// Each sector that the launch touched counts once. Of a launch that was sampled, the blocks that
/// ran stand for the others.
/// @param result  with LaunchResult::sectors
HostTraffic host_traffic(const LaunchResult& result, std::uint64_t blocks,
                         const DeviceMemory& memory, const std::vector<ByteRange>& written_by_host);

/// Adds what a routine of a library takes of one operand, the bytes of [address, end) that it
/// touches.
struct OperandInMemory {
  std::uint64_t address = 0, end = 0;
  double bytes = 0;
  bool read = false, written = false;
};
void add_operand(const OperandInMemory& operand, const DeviceMemory& memory,
                 const std::vector<ByteRange>& written_by_host, HostTraffic& traffic);

/// Adds the terms "host_loads", "host_stores" and "managed_stores" to a kernel's time: the bytes
/// over the bandwidth of PCIe, each way for itself. The kernel takes at least as long as the first
/// two; what it stores to managed memory stays on the device until the host asks for it.
void add_host_traffic(const HostTraffic& traffic, const gpu_spec::GpuSpec& gpu,
                      TimeBreakdown& time);

}  // namespace simgpu
