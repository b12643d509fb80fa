#include "simgpu/runtime/copy.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/device_range.h"
#include "simgpu/runtime/host_memory.h"

namespace simgpu::runtime {
namespace {

/// Bytes [offset, offset + part.size()) of the packed copy, to or from rows `pitch` apart.
template <typename Move>
void for_each_row(const Copy& copy, std::size_t pitch, std::size_t offset, std::size_t count,
                  Move move) {
  std::size_t done = 0;
  while (done < count) {
    const std::size_t row = (offset + done) / copy.width;
    const std::size_t column = (offset + done) % copy.width;
    const std::size_t run = copy.height == 1 ? count : std::min(copy.width - column, count - done);
    move(row * pitch + column, done, run);
    done += run;
  }
}

/// Sends the bytes; `request` goes with the first of them.
int send(const Copy& copy, GuestOperation operation, std::span<const std::byte> request) {
  const auto* host = static_cast<const std::byte*>(copy.source);
  const std::size_t total = copy.width * copy.height;
  std::vector<std::byte> packed;
  std::size_t sent = 0;
  do {
    const std::size_t count = std::min<std::size_t>(total - sent, protocol::kChunkBytes);
    std::span<const std::byte> chunk;
    if (copy.height == 1 || copy.source_pitch == copy.width) {
      chunk = {host + sent, count};
    } else {
      packed.resize(count);
      for_each_row(copy, copy.source_pitch, sent, count,
                   [&](std::size_t from, std::size_t to, std::size_t bytes) {
                     std::memcpy(packed.data() + to, host + from, bytes);
                   });
      chunk = packed;
    }
    const Reply reply = Client::instance().call(operation, request, chunk);
    if (!reply.ok()) return reply.error;
    operation = GuestOperation::copy_more;
    request = {};
    sent += count;
  } while (sent < total);
  return cudaSuccess;
}

/// Writes the packed bytes, those from `offset` on, to the host's rows.
void unpack(const Copy& copy, std::size_t offset, std::span<const std::byte> packed) {
  auto* host = static_cast<std::byte*>(copy.destination);
  for_each_row(copy, copy.destination_pitch, offset, packed.size(),
               [&](std::size_t to, std::size_t from, std::size_t bytes) {
                 std::memcpy(host + to, packed.data() + from, bytes);
               });
}

bool is_pinned(const void* host) {
  return Context::get<PinnedBlocks>().find(address_of(host)).has_value();
}

/// Whether the host goes on while the bytes are under way. Too many are not worth a copy of them.
bool may_arrive_late(const Copy& copy) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  return copy.asynchronous && copy.width * copy.height <= kMostBytes && is_pinned(copy.destination);
}

/// Takes the bytes, of which `reply` has the first.
int receive(const Copy& copy, Reply reply) {
  const bool is_late = may_arrive_late(copy);
  const std::size_t total = copy.width * copy.height;
  std::vector<std::byte> late;
  std::size_t received = 0;
  while (reply.ok()) {
    const std::size_t count = std::min(reply.data.size(), total - received);
    const std::span<const std::byte> packed(reply.data.data(), count);
    if (is_late) {
      late.insert(late.end(), packed.begin(), packed.end());
    } else {
      unpack(copy, received, packed);
    }
    received += count;
    if (received >= total) break;
    if (count == 0) return cudaErrorUnknown;
    reply = Client::instance().ask(GuestOperation::copy_more);
  }
  if (!reply.ok()) return reply.error;
  if (is_late) {
    Client::instance().keep_late([copy, late = std::move(late)] { unpack(copy, 0, late); });
  }
  return cudaSuccess;
}

}  // namespace

cudaMemcpyKind direction_of(const Copy& copy) {
  const bool to_device = is_device_memory(copy.destination);
  const bool from_device = is_device_memory(copy.source);
  if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

namespace {

/// Memory that both sides see may stand for either.
bool agrees_with_kind(const Copy& copy) {
  const auto kind = copy.kind;
  if (kind == cudaMemcpyDefault || kind == direction_of(copy)) return true;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const auto fits = [](const void* pointer, bool device) {
    return device ? is_device_address(pointer) : is_host_accessible(pointer);
  };
  return fits(copy.destination, to_device) && fits(copy.source, from_device);
}

}  // namespace

int check(const Copy& copy) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (is_empty(copy)) return cudaSuccess;
  if (copy.destination == nullptr || copy.source == nullptr ||
      copy.width > SIZE_MAX / copy.height) {
    return cudaErrorInvalidValue;
  }
  if (copy.height > 1 && (copy.width > copy.source_pitch || copy.width > copy.destination_pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  if (!agrees_with_kind(copy)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

int check(const Fill& fill) {
  const bool known = fill.element_bytes == 1 || fill.element_bytes == 2 || fill.element_bytes == 4;
  if (!known || fill.width > SIZE_MAX / fill.element_bytes) return cudaErrorInvalidValue;
  return cudaSuccess;
}

namespace {

/// Whether the side of a copy that is the host's is memory of this process.
bool has_host_memory(const Copy& copy) {
  const bool to_device = direction_of(copy) == cudaMemcpyHostToDevice;
  const auto* host = static_cast<const std::byte*>(to_device ? copy.source : copy.destination);
  const std::size_t pitch = to_device ? copy.source_pitch : copy.destination_pitch;
  if (is_readable(host, (copy.height - 1) * pitch + copy.width)) return true;
  for (std::size_t row = 0; row < copy.height; ++row) {  // what lies between rows need not be there
    if (!is_readable(host + row * pitch, copy.width)) return false;
  }
  return true;
}

int refuse_host_pointer(const Copy& copy) {
  const bool to_device = direction_of(copy) == cudaMemcpyHostToDevice;
  Client::instance().ask(GuestOperation::misuse,
                         protocol::Misuse{.kind = protocol::MisuseKind::host_memory,
                                          .destination = address_of(copy.destination),
                                          .source = address_of(copy.source),
                                          .bytes = copy.width * copy.height,
                                          .detail = to_device ? 1U : 0U});
  return cudaErrorInvalidValue;
}

}  // namespace

void report_misuse(const Copy& copy) {
  Client::instance().ask(GuestOperation::misuse,
                         protocol::Misuse{.kind = protocol::MisuseKind::copy_direction,
                                          .destination = address_of(copy.destination),
                                          .source = address_of(copy.source),
                                          .bytes = copy.width * copy.height,
                                          .detail = static_cast<std::uint64_t>(copy.kind)});
}

protocol::CopyRequest host_request(const Copy& copy) {
  const bool to_device = direction_of(copy) == cudaMemcpyHostToDevice;
  const void* host = to_device ? copy.source : copy.destination;
  return {.address = address_of(to_device ? copy.destination : copy.source),
          .pitch = to_device ? copy.destination_pitch : copy.source_pitch,
          .width = copy.width,
          .height = copy.height,
          .host = address_of(host),
          .host_pitch = to_device ? copy.source_pitch : copy.destination_pitch,
          .host_width = copy.width,
          .stream = stream_number(copy.stream),
          .asynchronous = copy.asynchronous && is_pinned(host) ? 1u : 0u,
          .asynchronous_call = copy.asynchronous ? 1u : 0u};
}

protocol::DeviceCopyRequest device_request(const Copy& copy) {
  return {.destination = address_of(copy.destination),
          .destination_pitch = copy.destination_pitch,
          .source = address_of(copy.source),
          .source_pitch = copy.source_pitch,
          .width = copy.width,
          .height = copy.height,
          .stream = stream_number(copy.stream),
          .asynchronous_call = copy.asynchronous ? 1u : 0u};
}

protocol::FillRequest fill_request(const Fill& fill) {
  return {.address = address_of(fill.destination),
          .pitch = fill.pitch,
          .width = fill.width * fill.element_bytes,
          .height = fill.height,
          .stream = stream_number(fill.stream),
          .value = fill.value,
          .asynchronous_call = fill.asynchronous ? 1u : 0u,
          .element_bytes = fill.element_bytes};
}

int send_rest(const Copy& copy) { return send(copy, GuestOperation::copy_more, {}); }

int receive_rest(const Copy& copy) {
  return receive(copy, Client::instance().ask(GuestOperation::copy_more));
}

int copy_on_host(const Copy& copy) {
  auto* destination = static_cast<std::byte*>(copy.destination);
  const auto* source = static_cast<const std::byte*>(copy.source);
  for (size_t row = 0; row < copy.height; ++row) {
    std::memmove(destination + row * copy.destination_pitch, source + row * copy.source_pitch,
                 copy.width);
  }
  return cudaSuccess;
}

int perform(const Copy& copy) {
  if (is_empty(copy)) return cudaSuccess;
  Client& client = Client::instance();
  client.release_results();  // what this process copies itself comes behind the kernels
  switch (direction_of(copy)) {
    case cudaMemcpyHostToDevice: {
      if (!has_host_memory(copy)) return refuse_host_pointer(copy);
      const std::lock_guard transfer(client.transfers());
      wire::Writer request;
      request.put(host_request(copy));
      return send(copy, GuestOperation::copy_to_device, request.bytes());
    }
    case cudaMemcpyDeviceToHost: {
      if (!has_host_memory(copy)) return refuse_host_pointer(copy);
      const std::lock_guard transfer(client.transfers());
      return receive(copy, client.ask(GuestOperation::copy_from_device, host_request(copy)));
    }
    case cudaMemcpyDeviceToDevice:
      return client.ask(GuestOperation::copy_on_device, device_request(copy)).error;
    default:
      return copy_on_host(copy);
  }
}

int perform(const Fill& fill) {
  if (is_empty(fill)) return cudaSuccess;
  return Client::instance().ask(GuestOperation::fill, fill_request(fill)).error;
}

}  // namespace simgpu::runtime
