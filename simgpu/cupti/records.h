#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "simgpu/device/protocol.h"

/// What the device tells, in the form that CUPTI gives it (cupti_activity.h).
namespace simgpu::cupti {

// Records only grow: these are the forms of CUPTI 12.4, which all later headers still have, and
// what 12.5 to 13.0 have appended to them (docs/design/cuda-versions.md).
struct KernelRecord : CUpti_ActivityKernel9 {
  std::uint8_t isDeviceLaunched;
  std::uint8_t padding3[7];
};
struct CopyRecord : CUpti_ActivityMemcpy5 {
  std::uint64_t copyCount;
};
using FillRecord = CUpti_ActivityMemset4;
struct MemoryRecord : CUpti_ActivityMemory3 {
  const char* source;
};

/// Bytes of a record of this kind, 0 when the simulated GPU has none.
std::size_t record_bytes(CUpti_ActivityKind kind);

/// "CUPTI_ACTIVITY_KIND_MEMCPY"; "kind 99" for a number that is no kind.
std::string name_of(CUpti_ActivityKind kind);

/// The callback id of a runtime function ("cudaMalloc"): that of its newest version, 0 for a name
/// that is no function of the runtime.
CUpti_CallbackId callback_id(const std::string& function);

/// "cudaMalloc_v3020" for the id, null when there is none.
const char* callback_name(CUpti_CallbackId id);

/// One record as its bytes lie in a buffer.
using RecordBytes = std::vector<std::byte>;

/// Names that records point to: they stay where they are for as long as the process lives.
class Names {
 public:
  const char* keep(const std::string& name) { return names_.insert(name).first->c_str(); }

 private:
  std::set<std::string> names_;
};

/// @param kind KERNEL or CONCURRENT_KERNEL
RecordBytes kernel_record(CUpti_ActivityKind kind, const protocol::ActivityEntry& entry,
                          const char* name);
RecordBytes copy_record(const protocol::ActivityEntry& entry);
RecordBytes fill_record(const protocol::ActivityEntry& entry);
RecordBytes call_record(const protocol::ActivityEntry& entry, const std::string& function);
RecordBytes memory_record(const protocol::ActivityEntry& entry);
RecordBytes external_record(std::uint32_t correlation, CUpti_ExternalCorrelationKind kind,
                            std::uint64_t id);

}  // namespace simgpu::cupti
