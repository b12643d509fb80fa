#include "simgpu/device/copies.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "simgpu/device/dram_rows.h"
#include "simgpu/device/launch_choices.h"
#include "simgpu/provenance/provenance.h"

namespace simgpu {
namespace {

using protocol::CopyRequest;
using protocol::DeviceCopyRequest;
using protocol::FillRequest;

constexpr double kTransferLatencyUs = 1.3;  // first byte over PCIe after submission
constexpr double kDeviceOperationUs = 1.5;  // a small copy or fill on the device

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

}  // namespace

/// Over PCIe.
Picoseconds Copies::transfer_time(std::uint64_t bytes) const {
  const double rate = gpu_.pcie_bytes_per_second;
  const double bytes_us = rate > 0 ? static_cast<double>(bytes) / rate * 1e6 : 0;
  return picoseconds(kTransferLatencyUs) + picoseconds(bytes_us);
}

void Copies::record(MemoryOperation operation, std::uint64_t bytes, std::uint64_t destination,
                    std::uint64_t stream, Picoseconds start, Picoseconds duration) {
  constexpr std::uint64_t kBytesOfAnInstruction = 256;
  since_mark_.host_work += bytes / kBytesOfAnInstruction;
  log_.add(MemoryRecord{.sequence = log_.next_sequence(),
                        .operation = operation,
                        .bytes = bytes,
                        .start_us = microseconds(start),
                        .time_us = microseconds(duration),
                        .destination = destination,
                        .stream = timeline_.stream_number(stream)});
}

CudaError Copies::begin(const CopyRequest& request, bool to_device) {
  timeline_.spend(ApiCost::kCopy);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  const char* what = to_device ? "a copy to the device" : "a copy from the device";
  if (!host_findings_.check_range(what, request.address, request.pitch, request.width,
                                  request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  if (to_device) since_mark_.unsettle();
  if (!to_device) host_findings_.report_unwritten(request);
  if (!to_device && provenance_ != nullptr) provenance_->host_read();
  const Picoseconds duration = transfer_time(bytes);
  const auto engine =
      to_device ? Timeline::Engine::copy_to_device : Timeline::Engine::copy_from_device;
  std::vector<StreamRaces::Range> ranges =
      ranges_of(request.address, request.pitch, request.width, request.height, to_device);
  const Picoseconds start =
      streams_.issue(request.stream, engine, duration, streams_.places_of(ranges));
  if (streams_.watches(request.stream))
    streams_.note_work({.name = what, .ranges = std::move(ranges)});
  if (request.host_width > 0) {
    streams_.note_host_side(
        {request.host, request.host_pitch, request.host_width, bytes / request.host_width},
        to_device && request.asynchronous != 0, !to_device);
  }
  if (request.asynchronous == 0) {
    streams_.synchronize(start + duration);
    streams_.host_waited_for_stream(request.stream);
  }
  record(to_device ? MemoryOperation::copy_to_device : MemoryOperation::copy_to_host, bytes,
         to_device ? request.address : 0, request.stream, start, duration);
  return CudaError::success;
}

void Copies::write_packed(const CopyRequest& request, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
  if (!has_room_to_store(request.address, bytes.size())) return;
  for_each_row(request, offset, bytes.size(),
               [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
                 memory_.write(address, bytes.subspan(at, count));
                 if (provenance_ != nullptr) provenance_->host_wrote(address, count);
               });
}

void Copies::read_packed(const CopyRequest& request, std::uint64_t offset,
                         std::span<std::byte> bytes) {
  for_each_row(request, offset, bytes.size(),
               [&](std::uint64_t address, std::uint64_t at, std::uint64_t count) {
                 memory_.read(address, bytes.subspan(at, count));
               });
}

/// Vast memory has no room for all of it. What is not stored is as what a launch leaves out that
/// takes too long: nobody knows what follows from it.
bool Copies::has_room_to_store(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  const Allocation* const allocation = memory_.find(address);
  if (allocation == nullptr || !allocation->is_vast) return true;
  stored_to_vast_ += bytes;
  since_mark_.is_cut_short = since_mark_.is_cut_short || stored_to_vast_ > kMostBytes;
  return stored_to_vast_ <= kMostBytes;
}

/// Where a copy reads what it writes, CUDA leaves its result undefined: there nothing is written.
void Copies::forget_overlap(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const std::uint64_t first = std::max(to, from), end = std::min(to, from) + bytes;
  if (to != from && first < end) memory_.mark_uninitialized(first, end - first);
}

CudaError Copies::copy_on_device(const DeviceCopyRequest& request) {
  timeline_.spend(ApiCost::kCopy);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  if (!host_findings_.check_range("a copy on the device writes and", request.destination,
                                  request.destination_pitch, request.width, request.height) ||
      !host_findings_.check_range("a copy on the device reads and", request.source,
                                  request.source_pitch, request.width, request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  since_mark_.unsettle();
  const bool to_host = is_shared_with_host(memory_, request.destination);
  const bool from_host =
      comes_from_host(memory_, managed_.written_by_host(memory_), request.source,
                      request.source_pitch * (request.height - 1) + request.width);
  if (to_host) {
    streams_.note_host_side(
        {request.destination, request.destination_pitch, request.width, request.height}, false,
        true);
  }
  if (to_host && provenance_ != nullptr) provenance_->host_read();
  const bool has_room = has_room_to_store(request.destination, bytes);
  for (std::uint64_t row = 0; row < request.height && has_room; ++row) {
    const std::uint64_t to = request.destination + row * request.destination_pitch;
    const std::uint64_t from = request.source + row * request.source_pitch;
    memory_.copy(to, from, request.width);
    if (provenance_ != nullptr) provenance_->copied(to, from, request.width);
    forget_overlap(to, from, request.width);
  }
  const std::uint64_t rows = request.height - 1;
  managed_.keep(memory_, {{request.source, request.source_pitch * rows + request.width},
                          {request.destination, request.destination_pitch * rows + request.width}});
  const bool stays_on_device = !to_host && !from_host;
  const DramRows from{request.source, request.source_pitch, request.width, request.height};
  const DramRows to{request.destination, request.destination_pitch, request.width, request.height};
  const Picoseconds duration = stays_on_device
                                   ? picoseconds(device_operation_us() + copy_us(from, to, gpu_))
                                   : transfer_time(bytes);
  std::vector<StreamRaces::Range> ranges = ranges_of(request.destination, request.destination_pitch,
                                                     request.width, request.height, true);
  const auto read =
      ranges_of(request.source, request.source_pitch, request.width, request.height, false);
  ranges.insert(ranges.end(), read.begin(), read.end());
  const Picoseconds start = streams_.issue(request.stream, Timeline::Engine::compute, duration,
                                           streams_.places_of(ranges));
  if (streams_.watches(request.stream)) {
    streams_.note_work({.name = "a copy on the device", .ranges = std::move(ranges)});
  }
  record(copy_kind(to_host, from_host), bytes, to_host ? 0 : request.destination, request.stream,
         start, duration);
  log_.count_given(LaunchChoices::kOfAnOperation);
  return CudaError::success;
}

CudaError Copies::fill(const FillRequest& request) {
  timeline_.spend(ApiCost::kLaunch);
  if (!timeline_.has_stream(request.stream)) return CudaError::invalid_resource_handle;
  if (!host_findings_.check_range("a memset", request.address, request.pitch, request.width,
                                  request.height)) {
    return CudaError::invalid_value;
  }
  const std::uint64_t bytes = packed_bytes(request.width, request.height);
  if (bytes == 0) return CudaError::success;
  if (!has_whole_elements(request)) return CudaError::invalid_value;
  since_mark_.unsettle();
  streams_.note_host_side({request.address, request.pitch, request.width, request.height}, false,
                          true);
  const Allocation* const filled = memory_.find(request.address);
  // Zeros take no pages, except where they replace what repeats.
  const bool is_free = request.value == 0 && request.element_bytes == 1 && !filled->repeats;
  const bool has_room = is_free || has_room_to_store(request.address, bytes);
  for (std::uint64_t row = 0; row < request.height && has_room; ++row) {
    const std::uint64_t address = request.address + row * request.pitch;
    fill_row(memory_, request, address);
    if (provenance_ != nullptr) provenance_->cleared(address, request.width);
  }
  managed_.keep(memory_, {{request.address, request.pitch * (request.height - 1) + request.width}});
  const DramRows rows{request.address, request.pitch, request.width, request.height};
  const Picoseconds duration = picoseconds(device_operation_us() + fill_us(rows, gpu_));
  std::vector<StreamRaces::Range> ranges =
      ranges_of(request.address, request.pitch, request.width, request.height, true);
  const Picoseconds start = streams_.issue(request.stream, Timeline::Engine::compute, duration,
                                           streams_.places_of(ranges));
  if (streams_.watches(request.stream))
    streams_.note_work({.kind = StreamWork::fill, .name = "a memset", .ranges = std::move(ranges)});
  record(MemoryOperation::set, bytes, request.address, request.stream, start, duration);
  log_.count_given(LaunchChoices::kOfAnOperation);
  return CudaError::success;
}

double Copies::device_operation_us() const {
  return streams_.follows_work() ? GraphCost::kNode : kDeviceOperationUs;
}

}  // namespace simgpu
