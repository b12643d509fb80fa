#include "simgpu/device/guest_activity.h"

#include <cmath>
#include <string_view>

namespace simgpu {
namespace {

using protocol::ActivityEntry;
using protocol::ActivityKind;
using protocol::CopyDirection;

std::uint64_t nanoseconds(double microseconds) {
  return static_cast<std::uint64_t>(std::llround(microseconds * 1e3));
}

std::uint32_t is_asynchronous(const ApiRecord& call) {
  return std::string_view(call.name).ends_with("Async") ? 1 : 0;
}

CopyDirection direction_of(const MemoryRecord& record) {
  switch (record.operation) {
    case MemoryOperation::copy_to_device:
      return CopyDirection::to_device;
    case MemoryOperation::copy_to_host:
      return CopyDirection::from_device;
    case MemoryOperation::copy_on_device:
      return CopyDirection::on_device;
    case MemoryOperation::set:
      break;
  }
  return CopyDirection::none;
}

}  // namespace

void GuestActivity::see(const KernelRecord& record, const ApiRecord& /*call*/) {
  ActivityEntry entry{.kind = ActivityKind::kernel,
                      .sequence = record.sequence,
                      .correlation = record.correlation,
                      .stream = record.stream,
                      .graph_launch = record.graph_launch,
                      .start_ns = nanoseconds(record.start_us),
                      .end_ns = nanoseconds(record.start_us + record.time.total_us),
                      .grid = record.grid,
                      .block = record.block,
                      .registers = record.registers_per_thread,
                      .local_bytes = record.local_bytes_per_thread,
                      .static_shared_bytes = record.static_shared_bytes,
                      .dynamic_shared_bytes = record.dynamic_shared_bytes};
  for (const auto& [type, count] : record.counters.flops) entry.flops += count;
  entry.dram_bytes = record.counters.dram_read_bytes + record.counters.dram_write_bytes;
  keep(entry, record.name);
}

void GuestActivity::see(const MemoryRecord& record, const ApiRecord& call) {
  const CopyDirection direction = direction_of(record);
  keep({.kind = direction == CopyDirection::none ? ActivityKind::fill : ActivityKind::copy,
        .direction = direction,
        .sequence = record.sequence,
        .correlation = record.correlation,
        .stream = record.stream,
        .graph_launch = record.graph_launch,
        .start_ns = nanoseconds(record.start_us),
        .end_ns = nanoseconds(record.start_us + record.time_us),
        .bytes = record.bytes,
        .address = record.destination,
        .asynchronous = is_asynchronous(call)},
       name_of(record.operation));
}

void GuestActivity::see(const AllocationRecord& record, const ApiRecord& call) {
  keep({.kind = record.released ? ActivityKind::release : ActivityKind::allocation,
        .correlation = call.correlation,
        .start_ns = nanoseconds(record.time_us),
        .end_ns = nanoseconds(record.time_us),
        .bytes = record.bytes,
        .address = record.address,
        .asynchronous = is_asynchronous(call)},
       call.name);
}

void GuestActivity::see(const ApiRecord& call) {
  keep({.kind = ActivityKind::call,
        .sequence = call.sequence,
        .correlation = call.correlation,
        .start_ns = nanoseconds(call.start_us),
        .end_ns = nanoseconds(call.start_us + call.time_us),
        .error = static_cast<std::uint32_t>(call.error)},
       call.name);
}

void GuestActivity::keep(const ActivityEntry& entry, const std::string& name) {
  wire::Writer writer;
  writer.put(entry);
  writer.put_string(std::string_view(name).substr(0, protocol::kMaxName));
  std::vector<std::byte> bytes = writer.take();
  if (bytes.size() > protocol::kMaxActivityBytes - bytes_) {
    ++dropped_;
    return;
  }
  bytes_ += bytes.size();
  entries_.push_back(std::move(bytes));
}

void GuestActivity::take(wire::Writer& writer, std::size_t most) {
  writer.put(dropped_);
  dropped_ = 0;
  while (!entries_.empty() && entries_.front().size() <= most) {
    most -= entries_.front().size();
    bytes_ -= entries_.front().size();
    writer.append(entries_.front());
    entries_.pop_front();
  }
}

}  // namespace simgpu
