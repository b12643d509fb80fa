#include "simgpu/runtime/api.h"
#include "simgpu/runtime/registry.h"
#include "simgpu/runtime/submit.h"

/// Copies and fills. A one-dimensional copy is a two-dimensional one of one row.
namespace simgpu::runtime {
namespace {

cudaError_t copy_1d(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                    cudaStream_t stream, bool asynchronous) {
  return api([&] {
    return submit<Copy>({.destination = destination,
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
                 cudaStream_t stream, bool asynchronous) {
  return api([&] {
    return submit<Fill>({.destination = pointer,
                         .pitch = pitch,
                         .value = static_cast<unsigned>(value) & 0xFFu,
                         .width = width,
                         .height = height,
                         .stream = stream,
                         .asynchronous = asynchronous});
  });
}

/// The device address of `offset` bytes into a variable, when `bytes` fit there.
int symbol_range(const void* symbol, size_t offset, size_t bytes, std::uint64_t* address) {
  Variable* variable = nullptr;
  if (const int error = Registry::instance().resolve(symbol, &variable); error != 0) return error;
  if (offset > variable->bytes || bytes > variable->bytes - offset) {
    const std::uint64_t room = offset > variable->bytes ? 0 : variable->bytes - offset;
    Client::instance().ask(
        GuestOperation::misuse,
        protocol::Misuse{
            .kind = protocol::MisuseKind::symbol_range, .bytes = bytes, .detail = room});
    return cudaErrorInvalidValue;
  }
  *address = variable->address + offset;
  return 0;
}

cudaError_t copy_to_symbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return api([&] {
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) {
      return cudaErrorInvalidMemcpyDirection;
    }
    std::uint64_t address = 0;
    const int error = symbol_range(symbol, offset, bytes, &address);
    if (error != 0) return static_cast<cudaError_t>(error);
    return copy_1d(reinterpret_cast<void*>(address), source, bytes, kind, stream, asynchronous);
  });
}

cudaError_t copy_from_symbol(void* destination, const void* symbol, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  return api([&] {
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) {
      return cudaErrorInvalidMemcpyDirection;
    }
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
    return runtime::submit<runtime::Copy>(
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
    return runtime::submit<runtime::Copy>({destination, destination_pitch, source, source_pitch,
                                           width, height, kind, nullptr, false});
  });
}

cudaError_t cudaMemcpy2D_ptds(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return api([&] {
    return runtime::submit<runtime::Copy>({destination, destination_pitch, source, source_pitch,
                                           width, height, kind, cudaStreamPerThread, false});
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
  return fill(pointer, bytes, value, bytes, 1, nullptr, false);
}

cudaError_t cudaMemset_ptds(void* pointer, int value, size_t bytes) {
  return fill(pointer, bytes, value, bytes, 1, cudaStreamPerThread, false);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return fill(pointer, bytes, value, bytes, 1, stream, true);
}

cudaError_t cudaMemsetAsync_ptsz(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return fill(pointer, bytes, value, bytes, 1, per_thread(stream), true);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height, nullptr, false);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill(pointer, pitch, value, width, height, stream, true);
}

cudaError_t cudaMemset2D_ptds(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height, cudaStreamPerThread, false);
}

cudaError_t cudaMemset2DAsync_ptsz(void* pointer, size_t pitch, int value, size_t width,
                                   size_t height, cudaStream_t stream) {
  return fill(pointer, pitch, value, width, height, per_thread(stream), true);
}

}  // extern "C"
