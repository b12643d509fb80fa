#include "simgpu/exec/places.h"

#include <utility>

namespace simgpu {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 40;

std::string allocation_name(const Allocation& allocation) {
  std::string name = "the " + std::to_string(allocation.bytes) + "-byte allocation";
  if (!allocation.label.empty()) name += " (" + allocation.label + ")";
  return name;
}

/// "the first byte past the end of", "4 bytes past the end of".
std::string past_the_end(std::uint64_t bytes) {
  return (bytes == 0 ? "the first byte" : bytes_text(bytes)) + " past the end of ";
}

/// The last array that begins at an offset or before it; null where none does.
const KernelInfo::SharedArray* array_before(const KernelInfo& kernel, std::uint64_t offset) {
  const KernelInfo::SharedArray* before = nullptr;
  for (const KernelInfo::SharedArray& array : kernel.shared_arrays) {
    if (array.offset <= offset && (before == nullptr || array.offset >= before->offset)) {
      before = &array;
    }
  }
  return before;
}

/// Within an allocation.
std::string place_in(const Allocation& allocation, std::uint64_t address, unsigned bytes) {
  const std::uint64_t end = allocation.base + allocation.bytes;
  std::string place =
      "byte " + std::to_string(address - allocation.base) + " of " + allocation_name(allocation);
  if (!allocation.live) return place + ", which has been freed";
  if (allocation.read_only) return place + ", which is constant";
  if (address + bytes > end) {
    return place + ", and reaches " + bytes_text(address + bytes - end) + " past its end";
  }
  return place;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string plain_name(const std::string& name) {
  if (name.rfind("_ZZ", 0) != 0) return name;
  // The variable's own length-prefixed name is the last one.
  for (std::size_t at = name.size(); at-- > 3;) {
    if (name[at] < '0' || name[at] > '9') continue;
    std::size_t first = at;
    while (first > 3 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
    std::size_t length = 0;
    for (std::size_t i = first; i <= at; ++i) {
      length = length * 10 + static_cast<std::size_t>(name[i] - '0');
      if (length > name.size()) break;
    }
    if (length > 0 && at + 1 + length <= name.size() && first > 0 && name[first - 1] == 'E') {
      return name.substr(at + 1, length);
    }
  }
  return name;
}

std::string describe_access(AccessKind kind, unsigned bytes, const char* space) {
  if (kind == AccessKind::copy)
    return "copies " + bytes_text(bytes) + " asynchronously to " + space;
  const char* verb = kind == AccessKind::load    ? "reads "
                     : kind == AccessKind::store ? "writes "
                                                 : "updates atomically ";
  return verb + bytes_text(bytes) + (kind == AccessKind::store ? " to " : " of ") + space;
}

Place place_in_shared(const LoweredKernel& kernel, std::uint64_t offset,
                      std::uint32_t shared_bytes) {
  const KernelInfo::SharedArray* array = array_before(kernel.info, offset);
  if (array != nullptr && offset < std::uint64_t{array->offset} + array->bytes) {
    const std::string name = plain_name(array->name);
    Place place{"byte " + std::to_string(offset - array->offset) + " of shared array " + name +
                    " (" + bytes_text(array->bytes) + ")",
                name};
    place.array = {.space = ArraySpace::shared,
                   .name = name,
                   .words = place.words,
                   .bytes = array->bytes,
                   .offset = static_cast<std::int64_t>(offset - array->offset)};
    return place;
  }
  const std::uint64_t start = (kernel.info.static_shared_bytes + 15U) / 16U * 16U;
  if (offset < shared_bytes) {
    const std::uint64_t at = offset >= start ? offset - start : offset;
    const std::uint64_t bytes = shared_bytes > start ? shared_bytes - start : shared_bytes;
    Place place{"byte " + std::to_string(at) + " of the dynamic shared memory (" +
                bytes_text(bytes) + ")"};
    place.array = {.space = ArraySpace::dynamic_shared,
                   .words = place.words,
                   .bytes = bytes,
                   .offset = static_cast<std::int64_t>(at)};
    return place;
  }
  // Offsets are of 32 bits: these came from below 0.
  constexpr std::uint64_t kBelow = 0xFFFF0000;
  if (offset > kBelow) {
    return {bytes_text(0x100000000U - offset) + " before the start of shared memory"};
  }
  Place place{past_the_end(offset - shared_bytes) + "shared memory"};
  if (shared_bytes > start) {
    place.array = {.space = ArraySpace::dynamic_shared,
                   .words = place.words,
                   .bytes = shared_bytes - start,
                   .offset = static_cast<std::int64_t>(offset - start)};
  } else if (array != nullptr) {
    place.name = plain_name(array->name);
    place.words += ", beyond array " + place.name;
    place.array = {.space = ArraySpace::shared,
                   .name = place.name,
                   .words = place.words,
                   .bytes = array->bytes,
                   .offset = static_cast<std::int64_t>(offset - array->offset)};
  }
  return place;
}

Place place_in_global(const DeviceMemory& memory, std::uint64_t address, unsigned bytes) {
  constexpr std::uint64_t kNullPage = 65536;
  constexpr std::uint64_t kArena = std::uint64_t{1} << 40;
  Place far{"an address far from any allocation", "", FindingDetail::far_from_memory};
  if (address < kNullPage) return {"address " + std::to_string(address) + ", a null pointer"};
  if (address < kDeviceBase || address - kDeviceBase >= kArena) {
    return {far.words +
                ": it is no address of device memory, but may be one of the host's (kernels see "
                "memory from cudaHostAlloc, not from cudaHostRegister)",
            "", far.detail};
  }
  const Allocation* allocation = memory.find(address, 1);
  if (allocation == nullptr) allocation = memory.nearest(address);
  if (allocation == nullptr) return {"an address where nothing was ever allocated"};
  const std::uint64_t end = allocation->base + allocation->bytes;
  const auto with_array = [&](Place place) {
    place.array = {.space = ArraySpace::global,
                   .name = allocation->label,
                   .words = place.words,
                   .bytes = allocation->bytes,
                   .offset = static_cast<std::int64_t>(address - allocation->base),
                   .touched = bytes};
    return place;
  };
  if (address >= allocation->base && address < end) {
    Place place{place_in(*allocation, address, bytes), allocation->label};
    return allocation->live ? with_array(std::move(place)) : place;
  }
  const bool is_past = address >= end;
  const std::uint64_t distance = is_past ? address - end : allocation->base - address;
  if (distance > kFar) return far;
  const std::string name = allocation_name(*allocation);
  if (is_past) {
    return with_array({past_the_end(distance) + name, allocation->label, FindingDetail::past_end});
  }
  return with_array({bytes_text(distance) + " before the start of " + name, allocation->label});
}

}  // namespace simgpu
