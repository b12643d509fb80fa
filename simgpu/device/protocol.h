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
inline constexpr std::uint8_t kHasOutput = 1;   ///< take_output: printf output is to appear now
inline constexpr std::uint8_t kHasResults = 2;  ///< take_results: the host may use them too early

/// Where a module's image comes from, as the guest says.
enum class ImageOrigin : std::uint32_t {
  program,         ///< what nvcc put into it
  device_linked,   ///< the same, by nvlink from objects of -rdc=true
  loaded_library,  ///< what it loaded while it ran, and has to unload
};

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
  kernel_count,
  kernel_name,
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
  get_heap_limit,
  set_heap_limit,
  check_launch,  ///< LaunchMessage and parameters, as launch: what would refuse it, without running
  graph_begin,
  graph_nodes,  ///< GraphNodeHeader, its dependencies as u32, its request; any number of them
  graph_end,    ///< u64 handle of the executable graph
  graph_destroy,
  graph_update,     ///< u64 graph: the host compares it with another
  graph_set_node,   ///< u64 graph, u64 node, then its request
  graph_upload,     ///< u64 graph, u64 stream
  graph_launch,     ///< u64 graph, u64 stream; answers GraphProgress
  graph_continue,   ///< what GraphProgress asked for is done; answers GraphProgress
  activity_record,  ///< u32: 1 records what this guest does from now on, 0 no longer does
  activity_take,  ///< u64 records dropped since the last time, then ActivityEntry with its name …
  activity_clock,   ///< u64 nanoseconds on the modelled clock
  allocate_shared,  ///< u64 bytes, SharedKind; SharedMemory, and a descriptor of its memory
  release_pinned,   ///< u64 address
  allocate_array,   ///< as allocate, for cudaMallocArray
  image_create,     ///< Image; u64 handle, which kernels have
  image_destroy,    ///< u64 handle
  pool_create,      ///< u64 number of the pool, which the other operations on pools begin with
  pool_destroy,
  share_variable,  ///< u64 module, name; SharedMemory and descriptor of a __managed__ variable
  misuse,          ///< Misuse: a call that the guest's own library refused
  launch_unasked,  ///< u32 error: a launch failed, and its caller cannot see what it returned
  error_asked,     ///< the program asked for the last error
  graphs_kept,     ///< u64: graphs that the program has made and not destroyed
  refused,         ///< Refusal and the name of a public function that the guest's libraries lack
  host_call,       ///< HostCall
  take_results,    ///< ByteRange …: pages of the guest's memory that kernels under way store to
  result_used,     ///< u64 address of such memory that the host reads or writes
  count,
};

/// Bytes of which the trusted side asks what went into them, at most 16.
struct OriginPlace {
  std::uint64_t address = 0, bytes = 0;
};
inline constexpr std::size_t kMostOriginPlaces = 256;
/// In the tag of a guest's request: a Caller comes before its payload.
inline constexpr std::uint32_t kWithCaller = 1U << 31;
/// The calls of host code that led to a request, as the guest says. See HostFrame.
struct Caller {
  std::uint32_t count = 0;
  std::uint32_t padding = 0;
  std::array<HostFrame, kMostHostFrames> frames{};
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
  report_end,
  settled,
  set_secret,
  add_built_code,
  open_callers_stream,  ///< u64 handle of the stream that the guest's function is given
  allocate_vast,        ///< u64 bytes, name, pattern: DeviceMemory::allocate_vast()
  callers_work,         ///< u8 alone, ByteRange …: Device::note_callers_work()
  name_only_built_code,
  check_from_now_on,  ///< u64 instruction budget, u64 host call limit
  follow_origins,
  origins,   ///< OriginPlace …, at most kMostOriginPlaces: as collect, of MemoryOrigin
  record,    ///< replay::Wanted: of the launches from now on
  recorded,  ///< u64 size, and replay::Recorded as far as it fits; then collect_more
  keep_for_variants,
  work_since_mark,  ///< CallWork
  begin_variant,    ///< VariantLimits, then name and bytes of variables: Device::begin_variant()
  count,
};

/// What has been done since the last mark.
struct CallWork {
  std::uint64_t of_budget = 0;   ///< by launches, of an instruction budget
  std::uint64_t host_calls = 0;  ///< that count towards a limit of them
};

/// How a call of one of a library's variants is made.
struct VariantLimits {
  std::uint64_t instruction_budget = 0;  ///< of all its launches together
  std::uint64_t host_call_limit = 0;
  std::uint32_t is_checked = 1;       ///< checkers watch it
  std::uint32_t follows_failure = 0;  ///< of the call before it
  std::uint32_t is_timed = 0;         ///< times of its launches are wanted, which takes longer
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

/// Memory that guest and device see at one address, the guest once it has mapped all
/// `mapped_bytes` of the descriptor that comes with the reply.
struct SharedMemory {
  std::uint64_t address = 0;
  std::uint64_t mapped_bytes = 0;
};

/// Pinned memory is the same by both functions, which the records tell apart.
enum class SharedKind : std::uint32_t { managed = 1, malloc_host, host_alloc };

/// Calls that the guest's own libraries carry out, and that take the host time.
enum class HostCallKind : std::uint32_t {
  register_memory = 1,
  unregister_memory,
  create_blas_handle,
  destroy_blas_handle,
  ask_properties,
};

struct HostCall {
  HostCallKind kind{};
  std::uint32_t padding = 0;
  std::uint64_t bytes = 0;  ///< that are registered
};

/// One side of a two-dimensional copy or fill lies in `height` rows of `width` bytes, `pitch`
/// apart.
struct CopyRequest {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, width = 0, height = 0;
  std::uint64_t host = 0;  ///< where the host's side lies
  std::uint64_t host_pitch = 0, host_width = 0;
  std::uint64_t stream = 0;
  std::uint32_t asynchronous = 0;       ///< the caller does not wait (pinned host memory)
  std::uint32_t asynchronous_call = 0;  ///< cudaMemcpyAsync, whether the caller waits or not
};

struct DeviceCopyRequest {
  std::uint64_t destination = 0, destination_pitch = 0;
  std::uint64_t source = 0, source_pitch = 0;
  std::uint64_t width = 0, height = 0;
  std::uint64_t stream = 0;
  std::uint32_t asynchronous_call = 0;
  std::uint32_t padding = 0;
};

/// What a call was given that the guest's own library refused. It makes a finding and nothing else.
enum class MisuseKind : std::uint32_t {
  copy_direction,  ///< `detail` is the cudaMemcpyKind that does not fit the pointers
  symbol_range,    ///< a copy of `bytes` to or from a variable that has `detail` after the offset
  free_host,       ///< cudaFreeHost of `destination`
  host_memory,     ///< a copy whose host side is no memory; `detail` 1: to the device, 0: from it
};
struct Misuse {
  MisuseKind kind = MisuseKind::copy_direction;
  std::uint32_t padding = 0;
  std::uint64_t destination = 0, source = 0;
  std::uint64_t bytes = 0, detail = 0;
};

/// A call that the guest's own library does not carry out. It makes a finding and nothing else.
struct Refusal {
  std::uint32_t in_part = 0;  ///< 1: the function is there, and lacks what this call asks of it
  std::uint32_t padding = 0;
};
inline constexpr std::size_t kMaxFunctionName = 128;

struct FillRequest {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, width = 0, height = 0;
  std::uint64_t stream = 0;
  std::uint32_t value = 0;
  std::uint32_t asynchronous_call = 0;
  std::uint32_t element_bytes = 1;  ///< 1, 2 or 4: `value` fills elements, of which rows are whole
  std::uint32_t padding = 0;
};

/// All graphs of a guest together, as encoded.
inline constexpr std::uint64_t kMaxGraphBytes = 64u << 20;
inline constexpr std::size_t kMaxGraphs = 4096;

enum class GraphNodeKind : std::uint32_t {
  empty,
  kernel,            ///< LaunchMessage and parameters
  copy_to_device,    ///< CopyRequest; the guest sends the bytes at each launch
  copy_from_device,  ///< CopyRequest; the guest takes the bytes at each launch
  copy_on_device,    ///< DeviceCopyRequest
  fill,              ///< FillRequest
  blas,              ///< blas::Request without a result for the host
  event_record,      ///< u64 event
  event_wait,        ///< u64 event
  host,              ///< something that the guest does
  count,
};

/// Requests in a node name no stream: it is the launch's.
struct GraphNodeHeader {
  GraphNodeKind kind = GraphNodeKind::empty;
  std::uint32_t dependencies = 0;  ///< how many; each is the index of a node before this one
  std::uint32_t bytes = 0;         ///< of the request
};

/// A launch goes on until a node needs the guest: it then moves the node's bytes with copy_more, or
/// does what the host node says, and says graph_continue.
struct GraphProgress {
  GraphNodeKind waits_for = GraphNodeKind::empty;  ///< empty: the launch is complete
  std::uint32_t node = 0;
};

/// Followed by the parameters' bytes.
struct LaunchMessage {
  std::uint64_t module = 0;
  std::uint64_t kernel = 0;  ///< index that kernel_info gave
  std::uint64_t stream = 0;
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t cooperative = 0;  ///< all blocks run at once, so that they can wait for each other
  std::uint32_t by_syntax = 0;  ///< compiled from `<<<>>>`, which CUPTI knows by a name of its own
  std::uint32_t padding = 0;
};

/// Records of its own doing that one guest may leave lying at the device, as bytes of entries.
inline constexpr std::size_t kMaxActivityBytes = 16u << 20;

enum class ActivityKind : std::uint32_t { call = 1, kernel, copy, fill, allocation, release };
enum class CopyDirection : std::uint32_t { none, to_device, from_device, on_device };

/// One thing that the guest did, followed by its name. Times in nanoseconds on the modelled clock;
/// what a kind does not have is 0.
struct ActivityEntry {
  ActivityKind kind = ActivityKind::call;
  CopyDirection direction = CopyDirection::none;
  std::uint64_t sequence = 0, correlation = 0, stream = 0, graph_launch = 0;
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0, address = 0;     ///< of copies, fills and allocations
  std::uint64_t flops = 0, dram_bytes = 0;  ///< that a kernel was counted with
  Dim3 grid{}, block{};                     ///< of a kernel
  std::uint32_t registers = 0, local_bytes = 0;
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::uint32_t asynchronous = 0;  ///< issued by a function whose name ends in Async
  std::uint32_t error = 0;         ///< the cudaError_t of a call
};

enum class PoolAttribute : std::uint32_t {
  release_threshold = 4,
  reserved_current = 5,
  reserved_high = 6,
  used_current = 7,
  used_high = 8,
};

}  // namespace simgpu::protocol
