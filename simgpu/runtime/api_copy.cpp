#include <algorithm>
#include <cstring>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/device_range.h"
#include "simgpu/runtime/registry.h"

/// Copies and fills. A one-dimensional copy is a two-dimensional one of one row.
namespace simgpu::runtime {
namespace {

struct Copy {
  void* destination = nullptr;
  size_t destination_pitch = 0;
  const void* source = nullptr;
  size_t source_pitch = 0;
  size_t width = 0, height = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  cudaStream_t stream = nullptr;
  bool asynchronous = false;
};

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

protocol::CopyRequest request_of(const Copy& copy, const void* device, size_t pitch,
                                 const void* host) {
  const bool pinned = find_pinned_block(address_of(host)).has_value();
  return {.address = address_of(device),
          .pitch = pitch,
          .width = copy.width,
          .height = copy.height,
          .stream = stream_number(copy.stream),
          .asynchronous = copy.asynchronous && pinned ? 1u : 0u};
}

int copy_to_device(const Copy& copy) {
  wire::Writer first;
  first.put(request_of(copy, copy.destination, copy.destination_pitch, copy.source));
  const auto* host = static_cast<const std::byte*>(copy.source);
  const std::size_t total = copy.width * copy.height;
  std::vector<std::byte> packed;
  GuestOperation operation = GuestOperation::copy_to_device;
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
    const bool is_first = operation == GuestOperation::copy_to_device;
    const Reply reply = Client::instance().call(
        operation, is_first ? first.bytes() : std::span<const std::byte>(), chunk);
    if (!reply.ok()) return reply.error;
    operation = GuestOperation::copy_more;
    sent += count;
  } while (sent < total);
  return cudaSuccess;
}

int copy_from_device(const Copy& copy) {
  const auto request = request_of(copy, copy.source, copy.source_pitch, copy.destination);
  auto* host = static_cast<std::byte*>(copy.destination);
  const std::size_t total = copy.width * copy.height;
  Reply reply = Client::instance().ask(GuestOperation::copy_from_device, request);
  std::size_t received = 0;
  while (reply.ok()) {
    const std::size_t count = std::min(reply.data.size(), total - received);
    for_each_row(copy, copy.destination_pitch, received, count,
                 [&](std::size_t to, std::size_t from, std::size_t bytes) {
                   std::memcpy(host + to, reply.data.data() + from, bytes);
                 });
    received += count;
    if (received >= total) return cudaSuccess;
    if (count == 0) return cudaErrorUnknown;
    reply = Client::instance().ask(GuestOperation::copy_more);
  }
  return reply.error;
}

int copy_on_device(const Copy& copy) {
  return Client::instance()
      .ask(GuestOperation::copy_on_device,
           protocol::DeviceCopyRequest{.destination = address_of(copy.destination),
                                       .destination_pitch = copy.destination_pitch,
                                       .source = address_of(copy.source),
                                       .source_pitch = copy.source_pitch,
                                       .width = copy.width,
                                       .height = copy.height,
                                       .stream = stream_number(copy.stream)})
      .error;
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

cudaMemcpyKind kind_by_address(const Copy& copy) {
  const bool to_device = is_device_address(copy.destination);
  const bool from_device = is_device_address(copy.source);
  if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

int perform(const Copy& copy) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (copy.destination == nullptr || copy.source == nullptr ||
      copy.width > SIZE_MAX / copy.height) {
    return cudaErrorInvalidValue;
  }
  if (copy.height > 1 && (copy.width > copy.source_pitch || copy.width > copy.destination_pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  const cudaMemcpyKind actual = kind_by_address(copy);
  if (copy.kind != cudaMemcpyDefault && copy.kind != actual) return cudaErrorInvalidValue;
  switch (actual) {
    case cudaMemcpyHostToDevice:
      return copy_to_device(copy);
    case cudaMemcpyDeviceToHost:
      return copy_from_device(copy);
    case cudaMemcpyDeviceToDevice:
      return copy_on_device(copy);
    default:
      return copy_on_host(copy);
  }
}

cudaError_t copy_1d(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                    cudaStream_t stream, bool asynchronous) {
  return api([&] {
    return perform({.destination = destination,
                    .destination_pitch = bytes,
                    .source = source,
                    .source_pitch = bytes,
                    .width = bytes,
                    .height = 1,
                    .kind = kind,
                    .stream = stream,
                    .asynchronous = asynchronous});
  });
}

cudaError_t fill(void* pointer, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t stream) {
  return api([&] {
    if (width == 0 || height == 0) return static_cast<int>(cudaSuccess);
    return Client::instance()
        .ask(GuestOperation::fill,
             protocol::FillRequest{.address = address_of(pointer),
                                   .pitch = pitch,
                                   .width = width,
                                   .height = height,
                                   .stream = stream_number(stream),
                                   .value = static_cast<std::uint32_t>(value) & 0xFFu,
                                   .asynchronous = 1})
        .error;
  });
}

/// The device address of `offset` bytes into a variable, when `bytes` fit there.
int symbol_range(const void* symbol, size_t offset, size_t bytes, std::uint64_t* address) {
  Variable* variable = nullptr;
  if (const int error = Registry::instance().resolve(symbol, &variable); error != 0) return error;
  if (offset > variable->bytes || bytes > variable->bytes - offset) return cudaErrorInvalidValue;
  *address = variable->address + offset;
  return 0;
}

cudaError_t copy_to_symbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return api([&] {
    std::uint64_t address = 0;
    const int error = symbol_range(symbol, offset, bytes, &address);
    if (error != 0) return static_cast<cudaError_t>(error);
    return copy_1d(reinterpret_cast<void*>(address), source, bytes, kind, stream, asynchronous);
  });
}

cudaError_t copy_from_symbol(void* destination, const void* symbol, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return api([&] {
    std::uint64_t address = 0;
    const int error = symbol_range(symbol, offset, bytes, &address);
    if (error != 0) return static_cast<cudaError_t>(error);
    return copy_1d(destination, reinterpret_cast<void*>(address), bytes, kind, stream,
                   asynchronous);
  });
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::copy_1d;
using runtime::copy_from_symbol;
using runtime::copy_to_symbol;
using runtime::fill;
using runtime::per_thread;

extern "C" {

cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return copy_1d(destination, source, bytes, kind, nullptr, false);
}

cudaError_t cudaMemcpy_ptds(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind) {
  return copy_1d(destination, source, bytes, kind, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_1d(destination, source, bytes, kind, stream, true);
}

cudaError_t cudaMemcpyAsync_ptsz(void* destination, const void* source, size_t bytes,
                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_1d(destination, source, bytes, kind, per_thread(stream), true);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return api([&] {
    return runtime::perform(
        {destination, destination_pitch, source, source_pitch, width, height, kind, stream, true});
  });
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* destination, size_t destination_pitch, const void* source,
                                   size_t source_pitch, size_t width, size_t height,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height,
                           kind, per_thread(stream));
}

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return runtime::perform({destination, destination_pitch, source, source_pitch, width, height,
                             kind, nullptr, false});
  });
}

cudaError_t cudaMemcpy2D_ptds(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return api([&] {
    return runtime::perform({destination, destination_pitch, source, source_pitch, width, height,
                             kind, cudaStreamPerThread, false});
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, source, bytes, offset, kind, nullptr, false);
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, source, bytes, offset, kind, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_symbol(symbol, source, bytes, offset, kind, stream, true);
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* source, size_t bytes,
                                         size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_symbol(symbol, source, bytes, offset, kind, per_thread(stream), true);
}

cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_from_symbol(destination, symbol, bytes, offset, kind, nullptr, false);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* destination, const void* symbol, size_t bytes,
                                      size_t offset, cudaMemcpyKind kind) {
  return copy_from_symbol(destination, symbol, bytes, offset, kind, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t bytes,
                                      size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from_symbol(destination, symbol, bytes, offset, kind, stream, true);
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* destination, const void* symbol, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return copy_from_symbol(destination, symbol, bytes, offset, kind, per_thread(stream), true);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return api([&] {
    std::uint64_t address = 0;
    if (pointer == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = runtime::symbol_range(symbol, 0, 0, &address);
    if (error == 0) *pointer = reinterpret_cast<void*>(address);
    return error;
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([&] {
    runtime::Variable* variable = nullptr;
    if (bytes == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = runtime::Registry::instance().resolve(symbol, &variable);
    if (error == 0) *bytes = variable->bytes;
    return error;
  });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return fill(pointer, bytes, value, bytes, 1, nullptr);
}

cudaError_t cudaMemset_ptds(void* pointer, int value, size_t bytes) {
  return fill(pointer, bytes, value, bytes, 1, cudaStreamPerThread);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return fill(pointer, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemsetAsync_ptsz(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return fill(pointer, bytes, value, bytes, 1, per_thread(stream));
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill(pointer, pitch, value, width, height, stream);
}

}  // extern "C"
