#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simgpu/report.h"

/// The operations of the device process. A request is a wire::Header whose tag is the operation,
/// and its payload; every request gets exactly one reply, whose tag is a CudaError. Replies to a
/// guest carry one byte of flags before their payload. docs in simgpu/README.md, "Protocol".
namespace simgpu::protocol {

inline constexpr std::uint32_t kVersion = 1;

/// Longest payload either side accepts: a chunk of a copy and its description.
inline constexpr std::uint32_t kChunkBytes = 1u << 20;
inline constexpr std::uint32_t kMaxPayload = kChunkBytes + 4096;
inline constexpr std::uint32_t kMaxName = 4096 - 256;
/// Largest fat binary a guest may load, and how much it may have loaded in all, unpacked.
inline constexpr std::uint64_t kMaxImageBytes = 64u << 20;

/// Flags of a reply to a guest.
inline constexpr std::uint8_t kHasOutput = 1;  ///< device printf output waits for take_output

enum class GuestOperation : std::uint32_t {
  hello = 1,
  memory_info,
  allocate,
  release,
  reset,
  pool_allocate,
  pool_release,
  pool_get,
  pool_set,
  pool_trim,
  copy_to_device,
  copy_from_device,
  copy_more,
  copy_on_device,
  fill,
  module_begin,
  module_data,
  module_end,
  module_unload,
  kernel_info,
  set_shared_limit,
  symbol_info,
  launch,
  occupancy,
  stream_create,
  stream_destroy,
  stream_synchronize,
  stream_query,
  stream_wait,
  stream_info,
  event_create,
  event_destroy,
  event_record,
  event_synchronize,
  event_query,
  event_elapsed,
  device_synchronize,
  take_output,
  host_dereference,
  blas,
  get_stack_limit,
  set_stack_limit,
  count,
};

enum class ControlOperation : std::uint32_t {
  hello = 1,
  connect_guest,
  allocate,
  release,
  write,
  read,
  fill,
  mark_uninitialized,
  set_checkers,
  mark,
  collect,
  collect_more,
  report_leaks,
  count,
};

/// Facts a client needs of the GPU, for cudaGetDeviceProperties and the like.
struct Properties {
  std::array<char, 128> name{};
  std::int64_t global_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int32_t major = 0, minor = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  std::int32_t threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0;
  std::int32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_multiprocessor = 0;
  std::int32_t reserved_shared_per_block = 0;
  std::int32_t threads_per_block = 0;
  std::int32_t single_to_double_ratio = 0;
};

struct KernelAttributes {
  std::uint32_t parameter_bytes = 0;
  std::uint32_t registers = 0, static_shared_bytes = 0, local_bytes = 0;
  std::uint32_t max_threads_per_block = 0, max_dynamic_shared_bytes = 0;
  std::uint32_t target = 0;  ///< 80 for sm_80
};

/// One side of a two-dimensional copy or fill lies in `height` rows of `width` bytes, `pitch`
/// apart.
struct CopyRequest {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, width = 0, height = 0;
  std::uint64_t stream = 0;
  std::uint32_t asynchronous = 0;  ///< the caller does not wait (pinned host memory)
  std::uint32_t padding = 0;
};

struct DeviceCopyRequest {
  std::uint64_t destination = 0, destination_pitch = 0;
  std::uint64_t source = 0, source_pitch = 0;
  std::uint64_t width = 0, height = 0;
  std::uint64_t stream = 0;
};

struct FillRequest {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, width = 0, height = 0;
  std::uint64_t stream = 0;
  std::uint32_t value = 0;
  std::uint32_t asynchronous = 0;
};

/// Followed by the parameters' bytes.
struct LaunchMessage {
  std::uint64_t module = 0;
  std::uint64_t kernel = 0;  ///< index that kernel_info gave
  std::uint64_t stream = 0;
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t padding = 0;
};

enum class PoolAttribute : std::uint32_t {
  release_threshold = 4,
  reserved_current = 5,
  reserved_high = 6,
  used_current = 7,
  used_high = 8,
};

}  // namespace simgpu::protocol
