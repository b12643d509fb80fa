#include "simgpu/cupti/activity.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "simgpu/device/wire.h"
#include "simgpu/runtime/library_call.h"

namespace simgpu::cupti {
namespace {

using protocol::ActivityEntry;
using protocol::ActivityKind;
using protocol::GuestOperation;

bool tell_device(bool record) {
  const std::uint32_t on = record ? 1 : 0;
  return simgpu_activity_call(static_cast<std::uint32_t>(GuestOperation::activity_record), &on,
                              sizeof on, nullptr, 0, nullptr) == 0;
}

/// One reply of activity_take: what was dropped, then entries; empty without a device.
std::vector<std::byte> take_chunk() {
  std::vector<std::byte> chunk(protocol::kMaxPayload);
  std::size_t answered = 0;
  const int error = simgpu_activity_call(static_cast<std::uint32_t>(GuestOperation::activity_take),
                                         nullptr, 0, chunk.data(), chunk.size(), &answered);
  chunk.resize(error == 0 ? answered : 0);
  return chunk;
}

bool is_kernel(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

}  // namespace

Activity& Activity::instance() {
  // Never destroyed: programs flush from their own static destructors.
  static Activity& activity = *new Activity;  // NOLINT(cppcoreguidelines-owning-memory)
  return activity;
}

CUptiResult Activity::enable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex_);
  if (record_bytes(kind) == 0) {
    std::fprintf(stderr, "simgpu: cuptiActivityEnable of %s is not implemented\n",
                 name_of(kind).c_str());
    return CUPTI_ERROR_INVALID_KIND;
  }
  if (is_kernel(kind) && !is_enabled(kind) && kernel_kind().has_value()) {
    return CUPTI_ERROR_NOT_COMPATIBLE;
  }
  if (enabled_.empty()) {
    if (!tell_device(true)) return CUPTI_ERROR_NOT_INITIALIZED;
    counters_.clear();
  } else {
    drain();  // what came before is not of this kind's time
  }
  enabled_.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult Activity::disable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex_);
  if (record_bytes(kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  drain();  // records until now still belong to it
  enabled_.erase(kind);
  if (enabled_.empty()) tell_device(false);
  return CUPTI_SUCCESS;
}

CUptiResult Activity::set_callbacks(CUpti_BuffersCallbackRequestFunc requested,
                                    CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  requested_ = requested;
  completed_ = completed;
  return CUPTI_SUCCESS;
}

CUptiResult Activity::flush() {
  {
    const std::lock_guard lock(mutex_);
    if (requested_ == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    drain();
  }
  while (deliver_one_buffer()) {
  }
  return CUPTI_SUCCESS;
}

std::size_t Activity::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

CUptiResult Activity::push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  drain();  // what was done until now is not this id's
  external_.at(kind).push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult Activity::pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  const std::lock_guard lock(mutex_);
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  std::vector<std::uint64_t>& stack = external_.at(kind);
  if (stack.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  drain();
  if (last != nullptr) *last = stack.back();
  stack.pop_back();
  return CUPTI_SUCCESS;
}

bool Activity::counters(std::uint32_t correlation, std::int64_t grid, double* flops,
                        double* bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = counters_.find({correlation, grid});
  if (found == counters_.end()) return false;
  if (flops != nullptr) *flops = found->second.flops;
  if (bytes != nullptr) *bytes = found->second.dram_bytes;
  return true;
}

std::optional<CUpti_ActivityKind> Activity::kernel_kind() const {
  const auto found = std::ranges::find_if(enabled_, is_kernel);
  return found == enabled_.end() ? std::nullopt : std::optional(*found);
}

void Activity::drain() {
  for (;;) {
    const std::vector<std::byte> chunk = take_chunk();
    if (chunk.empty()) return;
    wire::Reader reader(chunk);
    dropped_ += reader.get<std::uint64_t>();
    std::size_t left = chunk.size() - sizeof(std::uint64_t);
    if (left == 0) return;
    while (left > 0) {
      const auto entry = reader.get<ActivityEntry>();
      const std::string name = reader.get_string(protocol::kMaxName);
      convert(entry, name);
      left -= sizeof entry + sizeof(std::uint32_t) + name.size();
    }
  }
}

void Activity::convert(const ActivityEntry& entry, const std::string& name) {
  switch (entry.kind) {
    case ActivityKind::kernel:
      if (!kernel_kind()) return;
      pending_.push_back(kernel_record(*kernel_kind(), entry, names_.keep(name)));
      counters_[{static_cast<std::uint32_t>(entry.correlation),
                 static_cast<std::int64_t>(entry.sequence)}] = {
          .flops = static_cast<double>(entry.flops),
          .dram_bytes = static_cast<double>(entry.dram_bytes)};
      return;
    case ActivityKind::copy:
      if (is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) pending_.push_back(copy_record(entry));
      return;
    case ActivityKind::fill:
      if (is_enabled(CUPTI_ACTIVITY_KIND_MEMSET)) pending_.push_back(fill_record(entry));
      return;
    case ActivityKind::allocation:
    case ActivityKind::release:
      if (is_enabled(CUPTI_ACTIVITY_KIND_MEMORY2)) pending_.push_back(memory_record(entry));
      return;
    case ActivityKind::call:
      convert_call(entry, name);
      return;
  }
}

void Activity::convert_call(const ActivityEntry& entry, const std::string& name) {
  if (is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    for (std::size_t kind = 0; kind < external_.size(); ++kind) {
      if (external_[kind].empty()) continue;
      pending_.push_back(external_record(static_cast<std::uint32_t>(entry.correlation),
                                         static_cast<CUpti_ExternalCorrelationKind>(kind),
                                         external_[kind].back()));
    }
  }
  if (is_enabled(CUPTI_ACTIVITY_KIND_RUNTIME)) pending_.push_back(call_record(entry, name));
}

bool Activity::deliver_one_buffer() {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most_records = 0, used = 0;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return false;
  }
  // Without the lock: the callbacks are the program's, which may call CUPTI from them.
  requested_(&buffer, &size, &most_records);
  if (most_records == 0) most_records = std::numeric_limits<std::size_t>::max();
  {
    const std::lock_guard lock(mutex_);
    std::size_t records = 0;
    while (buffer != nullptr && !pending_.empty() && records < most_records &&
           pending_.front().size() <= size - used) {
      std::memcpy(buffer + used, pending_.front().data(), pending_.front().size());
      used += pending_.front().size();
      ++records;
      pending_.pop_front();
    }
    if (records == 0) {  // no room even for one: all that waits has nowhere to go
      dropped_ += pending_.size();
      pending_.clear();
    }
  }
  if (buffer != nullptr) completed_(nullptr, 0, buffer, size, used);
  return used != 0;
}

}  // namespace simgpu::cupti
