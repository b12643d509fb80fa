#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/allocations.h"
#include "simgpu/device/copies.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/executable_graph.h"
#include "simgpu/device/fault.h"
#include "simgpu/device/host_findings.h"
#include "simgpu/device/host_objects.h"
#include "simgpu/device/host_traffic.h"
#include "simgpu/device/launches.h"
#include "simgpu/device/library_kernels.h"
#include "simgpu/device/loaded_modules.h"
#include "simgpu/device/memory_pools.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/since_mark.h"
#include "simgpu/device/streams.h"
#include "simgpu/device/timeline.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/provenance/provenance.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// One simulated GPU in this process, put together of parts. Who wants something of it asks the
/// part that owns it; Device itself does what several of them have to do together. Functions of the
/// parts that are named as the guest's requests answer with the runtime's error. Not thread-safe:
/// one request at a time.
class Device {
 public:
  Device(gpu_spec::GpuSpec gpu, const DeviceOptions& options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const gpu_spec::GpuSpec& gpu() const { return gpu_; }
  const DeviceOptions& options() const { return options_; }

  DeviceMemory& memory() { return memory_; }
  Timeline& timeline() { return timeline_; }
  ActivityLog& log() { return log_; }
  LoadedModules& modules() { return modules_; }
  ManagedContents& managed() { return managed_; }
  MemoryPools& pools() { return pools_; }
  GraphTable& graphs() { return graphs_; }
  HostObjects& host_objects() { return host_objects_; }
  HostFindings& host_findings() { return host_findings_; }
  Streams& streams() { return streams_; }
  Allocations& allocations() { return allocations_; }
  Copies& copies() { return copies_; }
  Launches& launches() { return launches_; }
  LibraryKernels& library_kernels() { return library_kernels_; }
  const Fault& fault() const { return fault_; }
  const SinceMark& since_mark() const { return since_mark_; }

  /// The guest is gone, or has reset the device: all parts forget what is the guest's, and free it.
  void release_guest();
  /// The program has ended. What it has not given back becomes findings, none of it after a fault,
  /// for nothing can be freed then; so does a failed launch that it never asked about, and what it
  /// wrote too early.
  void report_end();
  /// A measured call begins: the log, the peak of memory and all that is known since the last mark
  /// begin anew.
  void mark();
  /// What has been done since the last mark, all of it done to its end.
  Activity collect();

  /// From now on all parts say what goes into which memory: launches are executed whole, and much
  /// more slowly.
  void follow_origins();
  /// nullptr before follow_origins().
  Provenance* provenance() { return provenance_.get(); }

  void set_checkers(bool on) { options_.checkers = on; }
  /// Checkers watch what comes, and launches that take too long fail. All memory that there is
  /// counts as written, since nobody saw who wrote to it.
  void check_from_now_on(std::uint64_t instruction_budget, std::uint64_t host_call_limit);
  /// What variables hold now, those of modules to come as they are loaded, and what kernels have
  /// allocated until now, is what the calls of variants find.
  void keep_for_variants();
  /// As mark(), for the call of one of a library's variants, which starts as if no other had been
  /// before it: a fault is forgotten, variables hold what was kept, and what failed calls have
  /// allocated is freed once it is much.
  /// @param variables that tell device code the variant
  void begin_variant(const protocol::VariantLimits& limits, std::vector<VariableContent> variables);

 private:
  void mark_all_written();

  const gpu_spec::GpuSpec gpu_;
  DeviceOptions options_;
  // Each is made of those above it.
  DeviceMemory memory_;
  Timeline timeline_;
  ActivityLog log_;
  SinceMark since_mark_;
  ManagedContents managed_;
  MemoryPools pools_;
  GraphTable graphs_;
  HostObjects host_objects_;
  Fault fault_;
  LoadedModules modules_;
  HostFindings host_findings_;
  Streams streams_;
  Allocations allocations_;
  Copies copies_;
  Launches launches_;
  LibraryKernels library_kernels_;
  std::unique_ptr<Provenance> provenance_;
};

}  // namespace simgpu
