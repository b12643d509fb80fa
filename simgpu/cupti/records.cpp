#include "simgpu/cupti/records.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace simgpu::cupti {
namespace {

using protocol::ActivityEntry;
using protocol::ActivityKind;
using protocol::CopyDirection;

constexpr std::uint32_t kContext = 1;  // the one context; the one device is 0

template <typename Record>
RecordBytes bytes_of(const Record& record) {
  const auto bytes = std::as_bytes(std::span(&record, 1));
  return {bytes.begin(), bytes.end()};
}

std::uint32_t low(std::uint64_t number) { return static_cast<std::uint32_t>(number); }
std::int32_t whole(std::uint32_t number) { return static_cast<std::int32_t>(number); }

/// What records of work on the device have in common.
template <typename Record>
Record work_record(CUpti_ActivityKind kind, const ActivityEntry& entry, CUpti_ChannelType channel) {
  Record record{};
  record.kind = kind;
  record.start = entry.start_ns;
  record.end = entry.end_ns;
  record.contextId = kContext;
  record.streamId = low(entry.stream);
  record.correlationId = low(entry.correlation);
  record.graphId = low(entry.graph_launch);
  record.graphNodeId = entry.graph_launch == 0 ? 0 : entry.sequence;
  record.channelType = channel;
  return record;
}

struct CallbackName {
  CUpti_CallbackId id;
  const char* name;
};
constexpr CallbackName kCallbacks[] = {
#include "simgpu/cupti/callback_names.inc"
};

/// "cudaMalloc" of "cudaMalloc_v3020"; empty for a per-thread-stream form.
std::string_view function_of(std::string_view versioned) {
  const std::size_t version = versioned.rfind("_v");
  const bool plain = version != std::string_view::npos &&
                     versioned.find_first_not_of("0123456789", version + 2) == versioned.npos;
  return plain ? versioned.substr(0, version) : std::string_view();
}

}  // namespace

std::size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(FillRecord);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(MemoryRecord);
    default:
      return 0;
  }
}

std::string name_of(CUpti_ActivityKind kind) {
  static constexpr const char* kNames[] = {
#include "simgpu/cupti/kind_names.inc"
  };
  const auto number = static_cast<std::size_t>(kind);
  if (number < std::size(kNames)) return kNames[number];
  return "kind " + std::to_string(number);
}

CUpti_CallbackId callback_id(const std::string& function) {
  // A product of cuBLAS is a launch, as NVIDIA's library makes it, and CUPTI tells what nvcc makes
  // of <<<>>> as if the program had called the function itself.
  std::string_view wanted = function;
  if (wanted == "cublas" || wanted == "__cudaLaunchKernel") wanted = "cudaLaunchKernel";
  CUpti_CallbackId newest = 0;
  for (const CallbackName& callback : kCallbacks) {
    if (function_of(callback.name) == wanted) newest = callback.id;
  }
  return newest;
}

const char* callback_name(CUpti_CallbackId id) {
  if (id == CUPTI_RUNTIME_TRACE_CBID_INVALID) return nullptr;  // a name, but no function's
  const auto found =
      std::ranges::find_if(kCallbacks, [id](const CallbackName& known) { return known.id == id; });
  return found == std::end(kCallbacks) ? nullptr : found->name;
}

RecordBytes kernel_record(CUpti_ActivityKind kind, const ActivityEntry& entry, const char* name) {
  auto record = work_record<KernelRecord>(kind, entry, CUPTI_CHANNEL_TYPE_COMPUTE);
  record.completed = entry.end_ns;
  record.registersPerThread = static_cast<std::uint16_t>(std::min(entry.registers, 0xFFFFu));
  record.gridX = whole(entry.grid.x), record.gridY = whole(entry.grid.y);
  record.gridZ = whole(entry.grid.z);
  record.blockX = whole(entry.block.x), record.blockY = whole(entry.block.y);
  record.blockZ = whole(entry.block.z);
  record.staticSharedMemory = whole(entry.static_shared_bytes);
  record.dynamicSharedMemory = whole(entry.dynamic_shared_bytes);
  record.sharedMemoryExecuted = entry.static_shared_bytes + entry.dynamic_shared_bytes;
  record.localMemoryPerThread = entry.local_bytes;
  record.gridId = static_cast<std::int64_t>(entry.sequence);
  record.name = name;
  record.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
  return bytes_of(record);
}

RecordBytes copy_record(const ActivityEntry& entry) {
  auto record =
      work_record<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, entry, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
  record.bytes = entry.bytes;
  record.copyCount = 1;
  record.flags =
      entry.asynchronous != 0 ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  // The device does not know how the host allocated its memory: unknown.
  record.srcKind = record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
  switch (entry.direction) {
    case CopyDirection::to_device:
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
      record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
      break;
    case CopyDirection::from_device:
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
      record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
      break;
    default:
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
      record.srcKind = record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  }
  return bytes_of(record);
}

RecordBytes fill_record(const ActivityEntry& entry) {
  auto record =
      work_record<FillRecord>(CUPTI_ACTIVITY_KIND_MEMSET, entry, CUPTI_CHANNEL_TYPE_COMPUTE);
  record.bytes = entry.bytes;
  record.flags =
      entry.asynchronous != 0 ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  return bytes_of(record);
}

RecordBytes call_record(const ActivityEntry& entry, const std::string& function) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = callback_id(function);
  record.start = entry.start_ns;
  record.end = entry.end_ns;
  record.processId = static_cast<std::uint32_t>(getpid());
  // The device serves a process, not its threads: all calls are those of the thread that fetches
  // the records. Numbered as CUPTI does on Linux unless told otherwise.
  record.threadId = static_cast<std::uint32_t>(pthread_self());
  record.correlationId = low(entry.correlation);
  record.returnValue = entry.error;
  return bytes_of(record);
}

RecordBytes memory_record(const ActivityEntry& entry) {
  MemoryRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = entry.kind == ActivityKind::allocation
                                   ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                   : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = low(entry.correlation);
  record.address = entry.address;
  record.bytes = entry.bytes;
  record.timestamp = entry.start_ns;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.contextId = kContext;
  record.isAsync = entry.asynchronous;
  return bytes_of(record);
}

RecordBytes external_record(std::uint32_t correlation, CUpti_ExternalCorrelationKind kind,
                            std::uint64_t id) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = kind;
  record.externalId = id;
  record.correlationId = correlation;
  return bytes_of(record);
}

}  // namespace simgpu::cupti
