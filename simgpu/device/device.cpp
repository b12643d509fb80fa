#include "simgpu/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

#include "simgpu/counters/l2_cache.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostAllocations =
    1'000'000;  // bounds our own bookkeeping, not the GPU's memory
constexpr std::size_t kMostPools = 1024;

DeviceOptions completed(DeviceOptions options, const gpu_spec::GpuSpec& gpu) {
  if (options.workers == 0) options.workers = std::max(1u, std::thread::hardware_concurrency());
  const auto capacity = static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.dram_bytes, 0));
  if (options.memory_limit == 0 || options.memory_limit > capacity) options.memory_limit = capacity;
  return options;
}

std::uint64_t room(std::uint64_t limit, std::uint64_t taken) {
  return limit - std::min(limit, taken);
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
  log_.count_given(sizeof(Image));  // kernels see its border of four numbers, its sizes and modes
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
  if (const CudaError error = place(bytes, "cudaMallocAsync", address);
      error != CudaError::success) {
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
  guest_allocations_[address] = {bytes, function, std::nullopt, ++allocations_made_, last_kernel_};
  log_.add(AllocationRecord{.address = address,
                            .bytes = bytes,
                            .released = false,
                            .time_us = microseconds(timeline_.now())});
}

CudaError Device::release(std::uint64_t address) {
  const auto found = guest_allocations_.find(address);
  const bool from_pool = found != guest_allocations_.end() && found->second.pool.has_value();
  timeline_.spend(from_pool ? ApiCost::kPool : ApiCost::kAllocate);
  if (address == 0) return CudaError::success;
  if (found == guest_allocations_.end()) {
    report_bad_free(address);
    return CudaError::invalid_value;
  }
  if (!from_pool) {  // cudaFree waits for the device
    synchronize(timeline_.all_done());
    host_waited_for_all();
  }
  memory_.release(address);
  log_.add(AllocationRecord{.address = address,
                            .bytes = found->second.bytes,
                            .released = true,
                            .time_us = microseconds(timeline_.now())});
  MemoryPool* from = from_pool ? pool(*found->second.pool) : nullptr;
  if (from != nullptr) from->remove(found->second.bytes);
  guest_allocations_.erase(found);
  return CudaError::success;
}

CudaError Device::release_pinned(std::uint64_t address) {
  if (pinned_.erase(address) == 0) return CudaError::invalid_value;
  timeline_.spend(ApiCost::kAllocate);
  report_changed_sources();
  synchronize(timeline_.all_done());
  memory_.release(address);
  return CudaError::success;
}

void Device::release_guest() {
  report_unasked();
  report_changed_sources();
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
  host_sources_.forget_all();
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
}

std::string Device::take_output() { return std::exchange(output_, {}); }

void Device::raise(CudaError error) {
  if (fault_ == CudaError::success) fault_ = error;
  log_.set_error(name_of(error));
}

}  // namespace simgpu
