#include "simgpu/device/control_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "simgpu/device/activity_wire.h"
#include "simgpu/device/kernel_names.h"
#include "simgpu/device/origins_wire.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/recording_wire.h"
#include "simgpu/exec/kept_stores.h"
#include "simgpu/memory/huge_pages.h"
#include "simgpu/replay/trim.h"

namespace simgpu {
namespace {

std::vector<ByteRange> ranges_from(wire::Reader& reader) {
  std::vector<ByteRange> ranges;
  while (!reader.empty()) ranges.push_back(reader.get<ByteRange>());
  return ranges;
}

std::vector<VariableContent> contents_from(wire::Reader& reader) {
  std::vector<VariableContent> contents;
  while (!reader.empty()) {
    VariableContent& content = contents.emplace_back();
    content.name = reader.get_string(protocol::kMaxName);
    const std::string bytes = reader.get_string(protocol::kChunkBytes);
    const auto range = std::as_bytes(std::span(bytes));
    content.bytes.assign(range.begin(), range.end());
  }
  return contents;
}

/// @param address of what has been allocated, if there was room
std::uint64_t require_room(std::optional<std::uint64_t> address, const Device& device,
                           std::uint64_t bytes, const std::string& label) {
  if (address) return *address;
  throw std::runtime_error(fmt::format("the simulated {} has no room for {} bytes of {}",
                                       device.gpu().name, bytes, label));
}

std::uint64_t allocate(Device& device, std::uint64_t bytes, const std::string& label) {
  DeviceMemory& memory = device.memory();
  const std::uint64_t address =
      require_room(memory.allocate(std::max<std::uint64_t>(bytes, 1), label), device, bytes, label);
  // The trusted side writes its arrays whole. A guest's may be touched here and there, by the
  // blocks of a sampled launch.
  advise_huge_pages(memory.host(address), bytes);
  return address;
}

/// The names that a program's source has.
void name_functions(replay::Recording& recording) {
  for (std::uint32_t i = 0; i < recording.launches(); ++i) {
    recording.launch(i).kernel = kernel_display_name(recording.launch(i).kernel);
  }
  for (replay::Place& place : recording.places) {
    for (InlinedCall& call : place.inlined_at) call.function = kernel_display_name(call.function);
  }
}

void release(Device& device, std::uint64_t address) {
  const bool is_guests = device.allocations().live().contains(address);
  if (is_guests || !device.memory().release(address)) {
    throw std::runtime_error(fmt::format("{:#x} is no allocation of the trusted side", address));
  }
}

}  // namespace

using protocol::ControlOperation;

ControlSession::~ControlSession() { device_.launches().observe(nullptr); }

ControlSession::Reply ControlSession::handle(std::uint32_t operation,
                                             std::span<const std::byte> payload) {
  wire::Writer writer;
  try {
    wire::Reader reader(payload);
    dispatch(operation, reader, writer);
    reader.expect_end();
    return {.error = CudaError::success, .payload = writer.take()};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const auto bytes = std::as_bytes(std::span(text));
    return {.error = CudaError::invalid_value, .payload = {bytes.begin(), bytes.end()}};
  }
}

void ControlSession::dispatch(std::uint32_t operation, wire::Reader& reader, wire::Writer& writer) {
  switch (static_cast<ControlOperation>(operation)) {
    case ControlOperation::hello:
      if (reader.get<std::uint32_t>() != protocol::kVersion) {
        throw std::runtime_error("simgpu-device is of another version; rebuild");
      }
      return;
    case ControlOperation::connect_guest:
      holds_guest_ = false;
      return;  // the server took the descriptor
    case ControlOperation::set_checkers:
      device_.set_checkers(reader.get<std::uint8_t>() != 0);
      return;
    case ControlOperation::check_from_now_on: {
      const auto budget = reader.get<std::uint64_t>();
      device_.check_from_now_on(budget, reader.get<std::uint64_t>());
      return;
    }
    case ControlOperation::mark:
      device_.mark();
      holds_guest_ = false;
      return;
    case ControlOperation::collect:
      send_collected(encode(device_.collect()), writer);
      holds_guest_ = true;
      return;
    case ControlOperation::collect_more:
      collect_chunk(writer);
      return;
    case ControlOperation::record:
      record(decode_wanted(reader.rest()));
      return;
    case ControlOperation::recorded:
      send_collected(recorded(), writer);
      return;
    case ControlOperation::report_end:
      device_.report_end();
      return;
    case ControlOperation::settled:
      settled_from(reader.get<std::uint64_t>(), writer);
      return;
    case ControlOperation::set_secret:
      device_.launches().set_secret(reader.get<std::uint64_t>());
      return;
    case ControlOperation::open_callers_stream:
      writer.put(device_.timeline().create_callers_stream());
      return;
    case ControlOperation::callers_work: {
      const bool alone = reader.get<std::uint8_t>() != 0;
      device_.streams().note_callers_work(ranges_from(reader), alone);
      return;
    }
    case ControlOperation::add_built_code:
      device_.modules().add_built_code(reader.rest());
      return;
    case ControlOperation::name_only_built_code:
      device_.modules().name_only_built_code();
      return;
    case ControlOperation::keep_for_variants:
      device_.keep_for_variants();
      return;
    case ControlOperation::work_since_mark:
      writer.put(protocol::CallWork{.of_budget = device_.since_mark().work,
                                    .host_calls = device_.since_mark().host_calls});
      return;
    case ControlOperation::begin_variant: {
      const auto limits = reader.get<protocol::VariantLimits>();
      device_.begin_variant(limits, contents_from(reader));
      holds_guest_ = false;
      return;
    }
    case ControlOperation::follow_origins:
      device_.follow_origins();
      return;
    case ControlOperation::origins:
      origins(reader, writer);
      return;
    default:
      memory_operation(static_cast<ControlOperation>(operation), reader, writer);
  }
}

void ControlSession::memory_operation(ControlOperation operation, wire::Reader& reader,
                                      wire::Writer& writer) {
  DeviceMemory& memory = device_.memory();
  const auto check = [](bool done) {
    if (!done) throw std::runtime_error("the range is not inside one live allocation");
  };
  switch (operation) {
    case ControlOperation::allocate: {
      const auto bytes = reader.get<std::uint64_t>();
      writer.put(allocate(device_, bytes, reader.get_string(protocol::kMaxName)));
      return;
    }
    case ControlOperation::allocate_vast: {
      const auto bytes = reader.get<std::uint64_t>();
      const std::string label = reader.get_string(protocol::kMaxName);
      writer.put(
          require_room(memory.allocate_vast(bytes, label, reader.rest()), device_, bytes, label));
      return;
    }
    case ControlOperation::release:
      release(device_, reader.get<std::uint64_t>());
      return;
    case ControlOperation::write: {
      const auto address = reader.get<std::uint64_t>();
      check(memory.write(address, reader.rest()));
      return;
    }
    case ControlOperation::read: {
      const auto address = reader.get<std::uint64_t>();
      const auto count = reader.get<std::uint64_t>();
      if (count > protocol::kChunkBytes) throw std::runtime_error("too many bytes at once");
      check(memory.read(address, writer.reserve(count)));
      return;
    }
    case ControlOperation::fill: {
      const auto address = reader.get<std::uint64_t>();
      const auto value = reader.get<std::uint8_t>();
      check(memory.fill(address, value, reader.get<std::uint64_t>()));
      return;
    }
    case ControlOperation::mark_uninitialized: {
      const auto address = reader.get<std::uint64_t>();
      const auto bytes = reader.get<std::uint64_t>();
      check(memory.find(address, bytes) != nullptr);
      memory.mark_uninitialized(address, bytes);
      return;
    }
    default:
      throw std::runtime_error("unknown operation");
  }
}

/// As many stretches as fit, from the one of this number on.
void ControlSession::settled_from(std::uint64_t first, wire::Writer& writer) const {
  const SettledBytes& settled = device_.since_mark().settled;
  static_assert(kMostStoredAllocations * sizeof(ByteRange) < protocol::kChunkBytes / 2);
  const std::size_t most = protocol::kChunkBytes / sizeof(ByteRange) - settled.of_grid.size();
  for (const std::uint64_t number :
       {settled.chosen.storing, settled.chosen.of_grid, settled.chosen.last_stores_at,
        std::uint64_t{settled.of_grid.size()}}) {
    writer.put(number);
  }
  writer.append(std::as_bytes(std::span(settled.of_grid)));
  const std::size_t begin = std::min<std::size_t>(first, settled.ranges.size());
  const std::size_t count = std::min(settled.ranges.size() - begin, most);
  writer.append(std::as_bytes(std::span(settled.ranges).subspan(begin, count)));
}

void ControlSession::origins(wire::Reader& reader, wire::Writer& writer) {
  constexpr std::uint64_t kMostBytes = 16;
  if (device_.provenance() == nullptr) {
    throw std::runtime_error("origins were not followed; ask for that before the call");
  }
  std::vector<MemoryOrigin> origins;
  while (!reader.empty()) {
    const auto place = reader.get<protocol::OriginPlace>();
    if (place.bytes > kMostBytes || origins.size() >= protocol::kMostOriginPlaces) {
      throw std::runtime_error("too many bytes to ask origins of at once");
    }
    origins.push_back(device_.provenance()->origin_of(place.address, place.bytes));
  }
  send_collected(encode_origins(origins), writer);
}

void ControlSession::record(const replay::Wanted& wanted) {
  recorder_.emplace(wanted);
  device_.launches().observe(&*recorder_);
}

/// Shortened until it may be sent.
std::vector<std::byte> ControlSession::recorded() const {
  if (!recorder_) throw std::runtime_error("nothing is being recorded");
  replay::Recorded recorded = recorder_->result();
  if (recorded.recording) name_functions(*recorded.recording);
  std::vector<std::byte> bytes = encode(recorded);
  while (bytes.size() > kMostRecordedBytes && recorded.recording->steps.size() > 1) {
    const std::size_t fewer = recorded.recording->steps.size() / 2;
    recorded.recording = replay::trimmed(*std::move(recorded.recording), fewer);
    bytes = encode(recorded);
  }
  return bytes.size() <= kMostRecordedBytes ? bytes : encode(replay::Recorded{});
}

void ControlSession::send_collected(std::vector<std::byte> bytes, wire::Writer& writer) {
  collected_ = std::move(bytes);
  sent_ = 0;
  writer.put(static_cast<std::uint64_t>(collected_.size()));
  collect_chunk(writer);
}

void ControlSession::collect_chunk(wire::Writer& writer) {
  const std::size_t count = std::min<std::size_t>(collected_.size() - sent_, protocol::kChunkBytes);
  writer.append(std::span(collected_).subspan(sent_, count));
  sent_ += count;
}

}  // namespace simgpu
