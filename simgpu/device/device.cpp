#include "simgpu/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "simgpu/counters/l2_cache.h"
#include "simgpu/device/dram_rows.h"

namespace simgpu {
namespace {

using protocol::CopyRequest;
using protocol::DeviceCopyRequest;
using protocol::FillRequest;

constexpr std::size_t kMostAllocations =
    1'000'000;  // bounds our own bookkeeping, not the GPU's memory
constexpr std::size_t kMostPools = 1024;
constexpr double kTransferLatencyUs = 1.3;  // first byte over PCIe after submission
constexpr double kDeviceOperationUs = 1.5;  // a small copy or fill on the device

DeviceOptions completed(DeviceOptions options, const gpu_spec::GpuSpec& gpu) {
  if (options.workers == 0) options.workers = std::max(1u, std::thread::hardware_concurrency());
  const auto capacity = static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.dram_bytes, 0));
  if (options.memory_limit == 0 || options.memory_limit > capacity) options.memory_limit = capacity;
  return options;
}

const char* const kFromPool = "cudaMallocAsync";

std::uint64_t room(std::uint64_t limit, std::uint64_t taken) {
  return limit - std::min(limit, taken);
}

std::uint64_t packed_bytes(std::uint64_t width, std::uint64_t height) { return width * height; }

/// Calls visit(address, count) for each run of packed bytes [offset, offset + count) within a row.
template <typename Visit>
void for_each_row(const CopyRequest& request, std::uint64_t offset, std::uint64_t count,
                  Visit visit) {
  if (request.height == 1 || request.pitch == request.width) {
    visit(request.address + offset, std::uint64_t{0}, count);
    return;
  }
  std::uint64_t done = 0;
  while (done < count) {
    const std::uint64_t row = (offset + done) / request.width;
    const std::uint64_t column = (offset + done) % request.width;
    const std::uint64_t run = std::min(request.width - column, count - done);
    visit(request.address + row * request.pitch + column, done, run);
    done += run;
  }
}

/// What a copy or a fill touches; nothing of one with very many rows.
std::vector<StreamRaces::Range> ranges_of(std::uint64_t address, std::uint64_t pitch,
                                          std::uint64_t width, std::uint64_t height, bool writes) {
  constexpr std::uint64_t kMostRows = 4096;
  std::vector<StreamRaces::Range> ranges;
  for (std::uint64_t row = 0; row < height && height <= kMostRows; ++row) {
    const std::uint64_t begin = address + row * pitch;
    ranges.push_back({begin, begin + width, writes});
  }
  return ranges;
}

/// Whether a fill's rows consist of elements, each at a multiple of its size.
bool has_whole_elements(const FillRequest& request) {
  const std::uint64_t size = request.element_bytes;
  if (size != 1 && size != 2 && size != 4) return false;
  const bool rows = request.height <= 1 || request.pitch % size == 0;
  return request.address % size == 0 && request.width % size == 0 && rows;
}

void fill_row(DeviceMemory& memory, const FillRequest& request, std::uint64_t address) {
  if (request.element_bytes == 1) {
    memory.fill(address, static_cast<std::uint8_t>(request.value), request.width);
    return;
  }
  std::array<std::byte, 4096> elements;  // a whole number of them
  for (std::size_t i = 0; i < elements.size(); i += request.element_bytes) {
    std::memcpy(elements.data() + i, &request.value, request.element_bytes);
  }
  for (std::uint64_t done = 0; done < request.width; done += elements.size()) {
    const auto count = std::min<std::uint64_t>(elements.size(), request.width - done);
    memory.write(address + done, std::span(elements).first(count));
  }
}

/// A node of a graph that follows another starts sooner than a kernel that the host launches.
gpu_spec::GpuSpec within_graph(gpu_spec::GpuSpec gpu) {
  gpu.launch_overhead_us = std::min(gpu.launch_overhead_us, GraphCost::kNode);
  return gpu;
}

}  // namespace

Device::Device(gpu_spec::GpuSpec gpu, const DeviceOptions& options)
    : gpu_(std::move(gpu)),
      l2_memory_(
          L2Cache::storage(static_cast<std::uint64_t>(std::max<std::int64_t>(gpu_.l2_bytes, 0)))),
      node_gpu_(within_graph(gpu_)),
      options_(completed(options, gpu_)),
      memory_(static_cast<std::uint64_t>(std::max<std::int64_t>(gpu_.dram_bytes, 0))) {}

protocol::Properties Device::properties() const {
  protocol::Properties properties;
  const std::string name = "simulated " + gpu_.name;
  std::copy_n(name.begin(), std::min(name.size(), properties.name.size() - 1),
              properties.name.begin());
  properties.global_bytes = gpu_.dram_bytes;
  properties.l2_bytes = gpu_.l2_bytes;
  properties.major = gpu_.compute_capability_major;
  properties.minor = gpu_.compute_capability_minor;
  properties.multiprocessors = gpu_.sm_count;
  properties.clock_khz = static_cast<std::int32_t>(gpu_.clock_mhz * 1000);
  properties.memory_clock_khz = static_cast<std::int32_t>(gpu_.memory_clock_mhz * 1000);
  if (gpu_.memory_clock_mhz > 0) {
    // bytes/s = clock x 2 transfers x bus bytes: the bus width that the quoted bandwidth implies.
    const double bits = gpu_.dram_bytes_per_second * 8 / (gpu_.memory_clock_mhz * 1e6 * 2);
    properties.memory_bus_bits = static_cast<std::int32_t>(std::lround(bits / 32) * 32);
  }
  properties.threads_per_multiprocessor = gpu_.max_threads_per_sm;
  properties.blocks_per_multiprocessor = gpu_.max_blocks_per_sm;
  properties.registers_per_multiprocessor = gpu_.registers_per_sm;
  properties.shared_per_block = gpu_.shared_bytes_per_block;
  properties.shared_per_block_optin = gpu_.shared_bytes_per_block_optin;
  properties.shared_per_multiprocessor = gpu_.shared_bytes_per_sm;
  properties.reserved_shared_per_block = gpu_.reserved_shared_bytes_per_block;
  properties.threads_per_block = gpu_.max_threads_per_block;
  if (gpu_.fp64_lanes_per_sm > 0) {
    properties.single_to_double_ratio = gpu_.fp32_lanes_per_sm / gpu_.fp64_lanes_per_sm;
  }
  return properties;
}

std::uint64_t Device::free_bytes() const {
  std::uint64_t pooled = 0;
  for (const auto& [number, pool] : pools_) {
    pooled += pool.reserved() - std::min(pool.reserved(), pool.used());
  }
  const std::uint64_t taken = memory_.allocated() + pooled;
  return options_.memory_limit - std::min(options_.memory_limit, taken);
}

CudaError Device::place(std::uint64_t bytes, const char* function, std::uint64_t* address) {
  if (bytes > room(options_.memory_limit, memory_.allocated()) ||
      guest_allocations_.size() >= kMostAllocations) {
    return CudaError::memory_allocation;
  }
  const auto base = memory_.allocate(bytes, function);
  if (!base) return CudaError::memory_allocation;
  remember(*base, bytes, function);
  *address = *base;
  return CudaError::success;
}

CudaError Device::allocate(std::uint64_t bytes, std::uint64_t* address) {
  timeline_.spend(ApiCost::kAllocate);
  *address = 0;
  return bytes == 0 ? CudaError::success : place(bytes, "cudaMalloc", address);
}

CudaError Device::allocate_array(std::uint64_t bytes, std::uint64_t* address) {
  timeline_.spend(ApiCost::kAllocate);
  *address = 0;
  return bytes == 0 ? CudaError::invalid_value : place(bytes, "cudaMallocArray", address);
}

CudaError Device::create_image(const Image& image, std::uint64_t* handle) {
  timeline_.spend(ApiCost::kEvent);
  *handle = 0;
  if (!is_valid(image) || memory_.find(image.address, image.bytes()) == nullptr) {
    return CudaError::invalid_value;
  }
  *handle = memory_.images().add(image);
  return *handle == 0 ? CudaError::memory_allocation : CudaError::success;
}

CudaError Device::allocate_from_pool(std::uint64_t bytes, std::uint64_t number,
                                     std::uint64_t* address) {
  timeline_.spend(ApiCost::kPool);
  *address = 0;
  MemoryPool* from = pool(number);
  if (bytes == 0 || from == nullptr) return CudaError::invalid_value;
  if (const CudaError error = place(bytes, kFromPool, address); error != CudaError::success) {
    return error;
  }
  guest_allocations_[*address].pool = number;
  from->add(bytes);
  return CudaError::success;
}

MemoryPool* Device::pool(std::uint64_t number) {
  const auto found = pools_.find(number);
  return found == pools_.end() ? nullptr : &found->second;
}

CudaError Device::create_pool(std::uint64_t* number) {
  if (pools_.size() >= kMostPools) return CudaError::memory_allocation;
  *number = next_pool_++;
  pools_[*number];
  return CudaError::success;
}

CudaError Device::destroy_pool(std::uint64_t number) {
  if (number == 0 || pools_.erase(number) == 0) return CudaError::invalid_value;
  return CudaError::success;
}

CudaError Device::allocate_shared(std::uint64_t bytes, Sharing sharing, SharedBlock* block) {
  const bool pinned = sharing == Sharing::pinned;
  timeline_.spend(ApiCost::kAllocate + (pinned ? ApiCost::pinning(bytes) : 0));
  if (bytes == 0) return CudaError::invalid_value;
  const std::uint64_t taken = pinned ? memory_.pinned() : memory_.allocated();
  if (bytes > room(options_.memory_limit, taken)) return CudaError::memory_allocation;
  const char* function = pinned ? "cudaMallocHost" : "cudaMallocManaged";
  auto made = memory_.allocate_shared(bytes, function, sharing);
  if (!made) return CudaError::memory_allocation;
  *block = std::move(*made);
  if (pinned) {
    pinned_.insert(block->address);
  } else {
    remember(block->address, bytes, function);
  }
  return CudaError::success;
}

void Device::remember(std::uint64_t address, std::uint64_t bytes, const char* function) {
  guest_allocations_[address] = {bytes, function, 0, ++allocations_made_, last_kernel_};
  log_.add(AllocationRecord{.address = address,
                            .bytes = bytes,
                            .released = false,
                            .time_us = microseconds(timeline_.now())});
}

CudaError Device::release(std::uint64_t address) {
  const auto found = guest_allocations_.find(address);
  const bool from_pool = found != guest_allocations_.end() && found->second.function == kFromPool;
  timeline_.spend(from_pool ? ApiCost::kPool : ApiCost::kAllocate);
  if (address == 0) return CudaError::success;
  if (found == guest_allocations_.end()) {
    report_bad_free(address);
    return CudaError::invalid_value;
  }
  if (!from_pool) {  // cudaFree waits for the device
    synchronize(timeline_.all_done());
    timeline_.host_waited_for_all();
  }
  memory_.release(address);
  log_.add(AllocationRecord{.address = address,
                            .bytes = found->second.bytes,
                            .released = true,
                            .time_us = microseconds(timeline_.now())});
  MemoryPool* from = from_pool ? pool(found->second.pool) : nullptr;
  if (from != nullptr) from->remove(found->second.bytes);
  guest_allocations_.erase(found);
  return CudaError::success;
}

CudaError Device::release_pinned(std::uint64_t address) {
  if (pinned_.erase(address) == 0) return CudaError::invalid_value;
  timeline_.spend(ApiCost::kAllocate);
  synchronize(timeline_.all_done());
  memory_.release(address);
  return CudaError::success;
}

void Device::release_guest() {
  report_unasked();
  for (const auto& [address, allocation] : guest_allocations_) memory_.release(address);
  guest_allocations_.clear();
  for (const std::uint64_t address : pinned_) memory_.release(address);
  pinned_.clear();
  memory_.images().clear();
  heap_.reset();
  allocations_made_ = 0;
  last_kernel_.reset();
  pools_ = {{0, {}}};
  stack_bytes_ = kDefaultStackBytes;
  for (const auto& [handle, loaded] : modules_) unload_module(loaded, memory_);
  modules_.clear();
  known_launches_ = {};
  launch_choices_.forget_all();
  graphs_ = {};
  graphs_kept_ = 0;
  host_objects_.forget_all();
  timeline_.wait_until(timeline_.all_done());
  timeline_.forget_handles();
  stream_races_.forget_all();
  unordered_work_.forget_all();
  has_callers_work_ = has_late_inputs_ = false;
  output_.clear();
  fault_ = CudaError::success;
}

CudaError Device::set_stack_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMost = 256u << 10;  // all threads of a block have theirs at once
  constexpr std::uint64_t kStep = 16;
  if (bytes > kMost) return CudaError::invalid_value;
  stack_bytes_ = static_cast<std::uint32_t>((bytes + kStep - 1) / kStep * kStep);
  return CudaError::success;
}

CudaError Device::set_heap_bytes(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(gpu_.dram_bytes)) return CudaError::memory_allocation;
  return heap_.resize(bytes) ? CudaError::success : CudaError::invalid_value;
}

Picoseconds Device::copy_time(double bytes, double bytes_per_second) const {
  return picoseconds(bytes_per_second > 0 ? bytes / bytes_per_second * 1e6 : 0);
}

void Device::record_memory(const char* kind, std::uint64_t bytes, std::uint64_t destination,
                           std::uint64_t stream, Picoseconds start, Picoseconds duration) {
  constexpr std::uint64_t kBytesOfAnInstruction = 256;
  host_work_ += bytes / kBytesOfAnInstruction;
  log_.add(MemoryRecord{.sequence = log_.next_sequence(),
                        .kind = kind,
                        .bytes = bytes,
                        .start_us = microseconds(start),
                        .time_us = microseconds(duration),
                        .destination = destination,
                        .stream = timeline_.stream_number(stream)});
}

CudaError Device::begin_copy(const CopyRequest& request, bool to_device) {
  timeline_.spend(ApiCost::kCopy);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  const char* what = to_device ? "a copy to the device" : "a copy from the device";
  if (!range_is_valid(what, request.address, request.pitch, request.width, request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  if (to_device) unsettle();
  if (!to_device) report_unwritten(request);
  const Picoseconds duration = picoseconds(kTransferLatencyUs) +
                               copy_time(static_cast<double>(bytes), gpu_.pcie_bytes_per_second);
  const auto engine =
      to_device ? Timeline::Engine::copy_to_device : Timeline::Engine::copy_from_device;
  std::vector<StreamRaces::Range> ranges =
      ranges_of(request.address, request.pitch, request.width, request.height, to_device);
  const Picoseconds start = issue(request.stream, engine, duration, places_of(ranges));
  if (watches(request.stream)) note_work({.name = what, .ranges = std::move(ranges)});
  if (request.asynchronous == 0) {
    synchronize(start + duration);
    timeline_.host_waited_for_stream(request.stream);
  }
  record_memory(to_device ? "copy host to device" : "copy device to host", bytes,
                to_device ? request.address : 0, request.stream, start, duration);
  return CudaError::success;
}

void Device::write_packed(const CopyRequest& request, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
  if (!has_room_to_store(request.address, bytes.size())) return;
  for_each_row(request, offset, bytes.size(),
               [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
                 memory_.write(address, bytes.subspan(at, count));
               });
}

void Device::read_packed(const CopyRequest& request, std::uint64_t offset,
                         std::span<std::byte> bytes) {
  for_each_row(request, offset, bytes.size(),
               [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
                 memory_.read(address, bytes.subspan(at, count));
               });
}

/// Vast memory has no room for all of it. What is not stored is as what a launch leaves out that
/// takes too long: nobody knows what follows from it.
bool Device::has_room_to_store(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  const Allocation* const allocation = memory_.find(address);
  if (allocation == nullptr || !allocation->is_vast) return true;
  stored_to_vast_ += bytes;
  is_cut_short_ = is_cut_short_ || stored_to_vast_ > kMostBytes;
  return stored_to_vast_ <= kMostBytes;
}

CudaError Device::copy_on_device(const DeviceCopyRequest& request) {
  timeline_.spend(ApiCost::kCopy);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  if (!range_is_valid("a copy on the device writes and", request.destination,
                      request.destination_pitch, request.width, request.height) ||
      !range_is_valid("a copy on the device reads and", request.source, request.source_pitch,
                      request.width, request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  unsettle();
  const bool to_host = is_shared_with_host(memory_, request.destination);
  const bool from_host =
      comes_from_host(memory_, written_by_host(), request.source,
                      request.source_pitch * (request.height - 1) + request.width);
  const bool has_room = has_room_to_store(request.destination, bytes);
  for (std::uint64_t row = 0; row < request.height && has_room; ++row) {
    memory_.copy(request.destination + row * request.destination_pitch,
                 request.source + row * request.source_pitch, request.width);
  }
  const std::uint64_t rows = request.height - 1;
  keep_managed({{request.source, request.source_pitch * rows + request.width},
                {request.destination, request.destination_pitch * rows + request.width}});
  const bool stays_on_device = !to_host && !from_host;
  const DramRows from{request.source, request.source_pitch, request.width, request.height};
  const DramRows to{request.destination, request.destination_pitch, request.width, request.height};
  const Picoseconds duration =
      stays_on_device ? picoseconds(device_operation_us() + copy_us(from, to, gpu_))
                      : picoseconds(kTransferLatencyUs) +
                            copy_time(static_cast<double>(bytes), gpu_.pcie_bytes_per_second);
  std::vector<StreamRaces::Range> ranges = ranges_of(request.destination, request.destination_pitch,
                                                     request.width, request.height, true);
  const auto read =
      ranges_of(request.source, request.source_pitch, request.width, request.height, false);
  ranges.insert(ranges.end(), read.begin(), read.end());
  const Picoseconds start =
      issue(request.stream, Timeline::Engine::compute, duration, places_of(ranges));
  if (watches(request.stream)) {
    note_work({.name = "a copy on the device", .ranges = std::move(ranges)});
  }
  record_memory(copy_kind(to_host, from_host), bytes, to_host ? 0 : request.destination,
                request.stream, start, duration);
  log_.count_given(LaunchChoices::kOfAnOperation);
  return CudaError::success;
}

CudaError Device::fill(const FillRequest& request) {
  timeline_.spend(ApiCost::kLaunch);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  if (!range_is_valid("a memset", request.address, request.pitch, request.width, request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  if (!has_whole_elements(request)) return CudaError::invalid_value;
  unsettle();
  const Allocation* const filled = memory_.find(request.address);
  // Zeros take no pages, except where they replace what repeats.
  const bool is_free = request.value == 0 && request.element_bytes == 1 && !filled->repeats;
  const bool has_room = is_free || has_room_to_store(request.address, bytes);
  for (std::uint64_t row = 0; row < request.height && has_room; ++row) {
    fill_row(memory_, request, request.address + row * request.pitch);
  }
  keep_managed({{request.address, request.pitch * (request.height - 1) + request.width}});
  const DramRows rows{request.address, request.pitch, request.width, request.height};
  const Picoseconds duration = picoseconds(device_operation_us() + fill_us(rows, gpu_));
  std::vector<StreamRaces::Range> ranges =
      ranges_of(request.address, request.pitch, request.width, request.height, true);
  const Picoseconds start =
      issue(request.stream, Timeline::Engine::compute, duration, places_of(ranges));
  if (watches(request.stream)) note_work({.name = "a memset", .ranges = std::move(ranges)});
  record_memory("set", bytes, request.address, request.stream, start, duration);
  log_.count_given(LaunchChoices::kOfAnOperation);
  return CudaError::success;
}

double Device::device_operation_us() const {
  return follows_work_ ? GraphCost::kNode : kDeviceOperationUs;
}

void Device::begin_node(Picoseconds from, bool follows_work, StreamRaces::Node node) {
  timeline_.begin_node(from);
  node_ = std::move(node);
  follows_work_ = follows_work;
}

Picoseconds Device::end_node() {
  follows_work_ = false;
  node_ = {};
  return timeline_.end_node();
}

void Device::synchronize(Picoseconds until) {
  timeline_.wait_until(until);
  for (auto& [number, pool] : pools_) pool.synchronized();
  stream_races_.drop_done(timeline_.order());
}

std::string Device::take_output() { return std::exchange(output_, {}); }

void Device::raise(CudaError error) {
  if (fault_ == CudaError::success) fault_ = error;
  log_.set_error(name_of(error));
}

}  // namespace simgpu
