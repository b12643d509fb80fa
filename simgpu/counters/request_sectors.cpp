#include "simgpu/counters/request_sectors.h"

#include <algorithm>
#include <bit>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

/// Adds sectors to a request, each once.
class Collector {
 public:
  /// @param bytes of each lane
  Collector(RequestSectors& request, std::uint32_t bytes) : request_(request), bytes_(bytes) {}

  void add(std::uint64_t number, std::uint32_t bytes, std::uint8_t lane) {
    // Most requests go upwards: beyond the highest sector so far there is nothing to look for.
    // Otherwise neighbouring lanes mostly share sectors, so look from the end.
    const bool beyond = request_.count == 0 || number > highest_;
    if (beyond) highest_ = number;
    for (std::size_t i = beyond ? 0 : request_.count; i-- > 0;) {
      if (request_.sectors[i].number == number) {
        add_to(request_.sectors[i], bytes, lane);
        return;
      }
    }
    if (request_.count < request_.sectors.size()) {
      request_.sectors[request_.count++] = {number, bytes, lane, true};
    }
  }

 private:
  void add_to(RequestedSector& sector, std::uint32_t bytes, std::uint8_t lane) const {
    if ((bytes & ~sector.bytes) == 0) return;
    const auto before = static_cast<std::uint32_t>(std::popcount(sector.bytes));
    const bool follows = bytes > sector.bytes && lane == sector.lane + before / bytes_;
    sector.is_in_lane_order = sector.is_in_lane_order && follows;
    sector.bytes |= bytes;
  }

  RequestSectors& request_;
  std::uint32_t bytes_;
  std::uint64_t highest_ = 0;
};

/// The sectors of [offset, offset + bytes), touched by lanes `step` bytes each (0: all of it by
/// lane 0).
RequestSectors sectors_of_range(std::uint64_t offset, std::uint64_t bytes, std::uint32_t step) {
  RequestSectors request;
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t sector = offset / kSectorBytes; sector * kSectorBytes < end; ++sector) {
    const std::uint64_t begin = sector * kSectorBytes;
    const auto first = static_cast<std::uint32_t>(offset > begin ? offset - begin : 0);
    const auto last =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(end - begin, kSectorBytes) - 1);
    const std::uint64_t reached = begin > offset ? begin - offset : 0;
    const auto lane = static_cast<std::uint8_t>(step == 0 ? 0 : reached / step);
    request.sectors[request.count++] = {sector, bit_range(first, last), lane, true};
  }
  return request;
}

}  // namespace

Shape shape_of(const WarpAccess& access) {
  if (access.mask != 0xffffffffU) return Shape::scattered;
  if (access.shape != Shape::unknown) return access.shape;
  const auto stride = constant_stride(access);
  if (!stride) return Shape::scattered;
  if (*stride == static_cast<std::int64_t>(access.bytes)) return Shape::consecutive;
  return *stride == 0 ? Shape::uniform : Shape::scattered;
}

RequestSectors coalesce(const WarpAccess& access) {
  const std::uint32_t bytes = access.bytes;
  const Shape shape = shape_of(access);
  const std::uint64_t first_offset = (*access.address)[0] - kDeviceBase;
  if (shape == Shape::consecutive) {
    return sectors_of_range(first_offset, std::uint64_t{bytes} * kWarpSize, bytes);
  }
  if (shape == Shape::uniform) return sectors_of_range(first_offset, bytes, 0);
  RequestSectors request;
  Collector collector(request, bytes);
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::uint64_t offset = (*access.address)[lane] - kDeviceBase;
    const std::uint64_t sector = offset / kSectorBytes;
    const auto first = static_cast<std::uint32_t>(offset % kSectorBytes);
    const std::uint32_t last = first + bytes - 1;
    collector.add(sector, bit_range(first, std::min<std::uint32_t>(last, kSectorBytes - 1)), lane);
    if (last >= kSectorBytes) {
      collector.add(sector + 1, bit_range(0, last - kSectorBytes), lane);
    }
  }
  return request;
}

std::uint64_t lines_of(const RequestSectors& request) {
  std::array<std::uint64_t, 2 * kWarpSize> lines;
  std::size_t count = 0;
  for (std::size_t i = 0; i < request.count; ++i) {
    const std::uint64_t line = request.sectors[i].number / kSectorsPerLine;
    if (count > 0 && lines[count - 1] == line) continue;
    lines[count++] = line;
  }
  const auto end = lines.begin() + static_cast<std::ptrdiff_t>(count);
  if (!std::is_sorted(lines.begin(), end)) {
    std::sort(lines.begin(), end);
    count = static_cast<std::size_t>(std::unique(lines.begin(), end) - lines.begin());
  }
  return count;
}

}  // namespace simgpu
