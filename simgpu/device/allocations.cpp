#include "simgpu/device/allocations.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "simgpu/provenance/provenance.h"

namespace simgpu {
namespace {

/// What failed calls may leave, of the memory that there is.
constexpr std::uint64_t kPartForFailedCalls = 8;

constexpr std::size_t kMostAllocations =
    1'000'000;  // bounds our own bookkeeping, not the GPU's memory

std::uint64_t room(std::uint64_t limit, std::uint64_t taken) {
  return limit - std::min(limit, taken);
}

}  // namespace

std::uint64_t Allocations::free_bytes() const {
  return room(options_.memory_limit, memory_.allocated() + pools_.idle_bytes());
}

CudaError Allocations::place(std::uint64_t bytes, const char* function, std::uint64_t* address) {
  if (bytes > room(options_.memory_limit, memory_.allocated()) ||
      live_.size() >= kMostAllocations) {
    return CudaError::memory_allocation;
  }
  const auto base = memory_.allocate(bytes, function);
  if (!base) return CudaError::memory_allocation;
  remember(*base, bytes, function);
  *address = *base;
  return CudaError::success;
}

CudaError Allocations::allocate(std::uint64_t bytes, std::uint64_t* address) {
  timeline_.spend(ApiCost::kAllocate);
  *address = 0;
  return bytes == 0 ? CudaError::success : place(bytes, "cudaMalloc", address);
}

CudaError Allocations::allocate_array(std::uint64_t bytes, std::uint64_t* address) {
  timeline_.spend(ApiCost::kAllocate);
  *address = 0;
  return bytes == 0 ? CudaError::invalid_value : place(bytes, "cudaMallocArray", address);
}

CudaError Allocations::allocate_from_pool(std::uint64_t bytes, std::uint64_t number,
                                          std::uint64_t* address) {
  timeline_.spend(ApiCost::kPool);
  *address = 0;
  MemoryPool* from = pools_.find(number);
  if (bytes == 0 || from == nullptr) return CudaError::invalid_value;
  if (const CudaError error = place(bytes, "cudaMallocAsync", address);
      error != CudaError::success) {
    return error;
  }
  live_[*address].pool = number;
  from->add(bytes);
  return CudaError::success;
}

CudaError Allocations::allocate_shared(std::uint64_t bytes, Sharing sharing, SharedBlock* block) {
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

void Allocations::remember(std::uint64_t address, std::uint64_t bytes, const char* function) {
  live_[address] = {bytes, function, std::nullopt, ++made_, last_kernel_, log_.caller()};
  log_.add(AllocationRecord{.address = address,
                            .bytes = bytes,
                            .released = false,
                            .time_us = microseconds(timeline_.now())});
}

CudaError Allocations::release(std::uint64_t address) {
  const auto found = live_.find(address);
  const bool from_pool = found != live_.end() && found->second.pool.has_value();
  timeline_.spend(from_pool ? ApiCost::kPool : ApiCost::kAllocate);
  if (address == 0) return CudaError::success;
  if (found == live_.end()) {
    host_findings_.report_bad_free(address);
    return CudaError::invalid_value;
  }
  if (!from_pool) {  // cudaFree waits for the device
    streams_.synchronize(timeline_.all_done());
    streams_.host_waited_for_all();
  }
  memory_.release(address);
  if (provenance_ != nullptr) provenance_->released(address, found->second.bytes);
  log_.add(AllocationRecord{.address = address,
                            .bytes = found->second.bytes,
                            .released = true,
                            .time_us = microseconds(timeline_.now())});
  MemoryPool* from = from_pool ? pools_.find(*found->second.pool) : nullptr;
  if (from != nullptr) from->remove(found->second.bytes);
  live_.erase(found);
  return CudaError::success;
}

CudaError Allocations::release_on(std::uint64_t address, std::uint64_t stream) {
  if (!timeline_.has_stream(stream)) return CudaError::invalid_resource_handle;
  const auto found = live_.find(address);
  if (found != live_.end() && streams_.watches(stream)) {
    timeline_.issue(stream, Timeline::Engine::compute, 0);
    streams_.note_work(
        {.kind = StreamWork::release,
         .name = "cudaFreeAsync",
         .ranges = {{.begin = address, .end = address + found->second.bytes, .writes = true}},
         .frees = true});
  }
  return release(address);
}

CudaError Allocations::release_pinned(std::uint64_t address) {
  if (pinned_.erase(address) == 0) return CudaError::invalid_value;
  timeline_.spend(ApiCost::kAllocate);
  streams_.report_changed_sources();
  streams_.synchronize(timeline_.all_done());
  memory_.release(address);
  return CudaError::success;
}

std::set<std::uint64_t> Allocations::addresses() const {
  std::set<std::uint64_t> all = pinned_;
  for (const auto& [address, entry] : live_) all.insert(address);
  return all;
}

/// 0 where there is no allocation any more.
std::uint64_t Allocations::bytes_at(std::uint64_t address) const {
  const Allocation* allocation = memory_.find(address);
  return allocation == nullptr ? 0 : allocation->bytes;
}

void Allocations::begin_independent_call(bool follows_failure) {
  std::set<std::uint64_t> all = addresses();
  if (follows_failure) {
    std::ranges::set_difference(all, at_begin_, std::inserter(left_, left_.end()));
    const std::uint64_t bytes = std::accumulate(
        left_.begin(), left_.end(), std::uint64_t{0},
        [&](std::uint64_t sum, std::uint64_t address) { return sum + bytes_at(address); });
    if (bytes > options_.memory_limit / kPartForFailedCalls) {
      free_left();
      all = addresses();
    }
  }
  at_begin_ = std::move(all);
}

void Allocations::free_left() {
  for (const std::uint64_t address : left_) {
    if (live_.contains(address)) {
      release(address);
    } else {
      release_pinned(address);
    }
  }
  left_.clear();
}

void Allocations::release_all() {
  for (const auto& [address, entry] : live_) memory_.release(address);
  live_.clear();
  for (const std::uint64_t address : pinned_) memory_.release(address);
  pinned_.clear();
  at_begin_.clear();
  left_.clear();
  made_ = 0;
  last_kernel_.reset();
}

}  // namespace simgpu
