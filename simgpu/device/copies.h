#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/host_findings.h"
#include "simgpu/device/host_traffic.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/since_mark.h"
#include "simgpu/device/streams.h"
#include "simgpu/device/timeline.h"
#include "simgpu/memory/device_memory.h"
#include "specs/gpu_spec.h"

namespace simgpu {

class Provenance;

/// Copies and fills: their bytes, their times and their records.
class Copies {
 public:
  Copies(const gpu_spec::GpuSpec& gpu, DeviceMemory& memory, Timeline& timeline, ActivityLog& log,
         ManagedContents& managed, Streams& streams, HostFindings& host_findings,
         SinceMark& since_mark)
      : gpu_(gpu),
        memory_(memory),
        timeline_(timeline),
        log_(log),
        managed_(managed),
        streams_(streams),
        host_findings_(host_findings),
        since_mark_(since_mark) {}

  /// A copy between host and device: checks the range and places the transfer on the timeline. The
  /// bytes follow in pieces, packed without the pitch.
  CudaError begin(const protocol::CopyRequest& request, bool to_device);
  void write_packed(const protocol::CopyRequest& request, std::uint64_t offset,
                    std::span<const std::byte> bytes);
  void read_packed(const protocol::CopyRequest& request, std::uint64_t offset,
                   std::span<std::byte> bytes);
  CudaError copy_on_device(const protocol::DeviceCopyRequest& request);
  CudaError fill(const protocol::FillRequest& request);

  /// Learns what is copied and filled from now on.
  void follow(Provenance* provenance) { provenance_ = provenance; }

 private:
  void record(MemoryOperation operation, std::uint64_t bytes, std::uint64_t destination,
              std::uint64_t stream, Picoseconds start, Picoseconds duration);
  bool has_room_to_store(std::uint64_t address, std::uint64_t bytes);
  void forget_overlap(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  Picoseconds transfer_time(std::uint64_t bytes) const;
  double device_operation_us() const;

  const gpu_spec::GpuSpec& gpu_;
  DeviceMemory& memory_;
  Timeline& timeline_;
  ActivityLog& log_;
  ManagedContents& managed_;
  Streams& streams_;
  HostFindings& host_findings_;
  SinceMark& since_mark_;
  Provenance* provenance_ = nullptr;
  std::uint64_t stored_to_vast_ = 0;  ///< bytes, to vast allocations
};

}  // namespace simgpu
