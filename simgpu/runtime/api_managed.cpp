#include <algorithm>
#include <cstdint>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/context.h"

/// What a program may say and ask about memory that host and device share. Advice and prefetches
/// are checked, kept for the program to ask about, and otherwise without effect: managed memory
/// lies where both see it.
namespace simgpu::runtime {
namespace {

bool is_place(const cudaMemLocation& place) {
  switch (place.type) {
    case cudaMemLocationTypeDevice:
      return place.id == 0;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return true;
    default:
      return false;
  }
}

/// Whether all of the range is managed memory.
bool is_managed(const void* pointer, size_t bytes) {
  const std::uint64_t address = address_of(pointer);
  const auto block = Context::get<DeviceBlocks>().find(address);
  return block && block->mapped_bytes != 0 && bytes <= block->base + block->bytes - address;
}

/// The advices that a cudaMemLocation goes with.
bool takes_place(cudaMemoryAdvise advice) {
  return advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
         advice == cudaMemAdviseUnsetAccessedBy;
}

/// As a PageAdvice has it.
int number_of_place(const cudaMemLocation& place) {
  return place.type == cudaMemLocationTypeDevice ? place.id : cudaCpuDeviceId;
}

/// What one advice makes of a page.
void apply(cudaMemoryAdvise advice, const cudaMemLocation& place, PageAdvice& page) {
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      page.read_mostly = advice == cudaMemAdviseSetReadMostly;
      break;
    case cudaMemAdviseSetPreferredLocation:
      page.preferred = number_of_place(place);
      break;
    case cudaMemAdviseUnsetPreferredLocation:
      page.preferred = PageAdvice::kNowhere;
      break;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
      if (number_of_place(place) == 0) {
        page.accessed_by_device = advice == cudaMemAdviseSetAccessedBy;
      }
      break;
  }
}

int advise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
           const cudaMemLocation& place) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (bytes == 0 || !is_managed(pointer, bytes)) return cudaErrorInvalidValue;
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
    return cudaErrorInvalidValue;
  }
  if (takes_place(advice) && !is_place(place)) return cudaErrorInvalidValue;
  Context::get<ManagedAdvice>().change(address_of(pointer), bytes,
                                       [&](PageAdvice& page) { apply(advice, place, page); });
  return cudaSuccess;
}

int prefetch(const void* pointer, size_t bytes, const cudaMemLocation& place, unsigned flags,
             cudaStream_t stream) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (const int error = permit_stream(stream); error != 0) return error;
  if (bytes == 0 || flags != 0 || !is_managed(pointer, bytes)) return cudaErrorInvalidValue;
  if (!is_place(place)) return cudaErrorInvalidDevice;
  const int error =
      Client::instance().ask(GuestOperation::stream_info, stream_number(stream)).error;
  if (error != 0) return error;
  Context::get<ManagedAdvice>().change(address_of(pointer), bytes, [&](PageAdvice& page) {
    page.prefetched = number_of_place(place);
  });
  return cudaSuccess;
}

int attach(cudaStream_t stream, const void* pointer, size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle) {
    return cudaErrorInvalidValue;
  }
  if (const int error = permit_stream(stream); error != 0) return error;
  const auto block = Context::get<DeviceBlocks>().find(address_of(pointer));
  const bool whole = block && block->mapped_bytes != 0 && block->base == address_of(pointer) &&
                     (bytes == 0 || bytes == block->bytes);
  return whole ? cudaSuccess : cudaErrorInvalidValue;
}

/// What the program has said of the whole range.
int range_attribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                    const void* pointer, size_t bytes) {
  if (data == nullptr || bytes == 0 || !is_managed(pointer, bytes)) return cudaErrorInvalidValue;
  auto* values = static_cast<int*>(data);
  const bool list = attribute == cudaMemRangeAttributeAccessedBy;
  if (data_bytes % sizeof(int) != 0 || data_bytes == 0 || (!list && data_bytes != sizeof(int))) {
    return cudaErrorInvalidValue;
  }
  const auto common = [&](auto member, auto otherwise) {
    return Context::get<ManagedAdvice>().common(address_of(pointer), bytes, member, otherwise);
  };
  static_assert(PageAdvice::kNowhere == cudaInvalidDeviceId);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *values = common(&PageAdvice::read_mostly, false) ? 1 : 0;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
      *values = common(&PageAdvice::preferred, PageAdvice::kNowhere);
      return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *values = common(&PageAdvice::prefetched, PageAdvice::kNowhere);
      return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy:
      std::fill_n(values, data_bytes / sizeof(int), cudaInvalidDeviceId);
      if (common(&PageAdvice::accessed_by_device, false)) *values = 0;
      return cudaSuccess;
    default:
      return refuse("cudaMemRangeGetAttribute", "this attribute");
  }
}

int device_pointer(void** device, void* host, unsigned flags) {
  if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
  *device = nullptr;
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  const auto block = Context::get<PinnedBlocks>().find(address_of(host));
  if (!block) return cudaErrorInvalidValue;
  if (block->mapped_bytes == 0) {
    return refuse("cudaHostGetDevicePointer",
                  "of memory from cudaHostRegister; take it from cudaHostAlloc");
  }
  *device = host;
  return cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Context;
using runtime::per_thread;
using runtime::PinnedBlocks;

extern "C" {

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation place) {
  return api([&] { return runtime::advise(pointer, bytes, advice, place); });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation place,
                                 unsigned flags, cudaStream_t stream) {
  return api([&] { return runtime::prefetch(pointer, bytes, place, flags, stream); });
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t bytes, cudaMemLocation place,
                                      unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, place, flags, per_thread(stream));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  return api([&] { return runtime::range_attribute(data, data_bytes, attribute, pointer, bytes); });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t bytes) {
  return api([&] {
    if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < count; ++i) {
      const int error =
          runtime::range_attribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
      if (error != 0) return error;
    }
    return 0;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                     unsigned flags) {
  return api([&] { return runtime::attach(stream, pointer, bytes, flags); });
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t bytes,
                                          unsigned flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), pointer, bytes, flags);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&] { return runtime::device_pointer(device, host, flags); });
}

/// Pinned memory is portable and mapped, whatever was asked for.
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return api([&] {
    if (flags == nullptr ||
        !runtime::Context::get<PinnedBlocks>().find(runtime::address_of(host))) {
      return cudaErrorInvalidValue;
    }
    *flags = cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

}  // extern "C"
