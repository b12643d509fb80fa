#include "simgpu/device/dram_rows.h"

#include <algorithm>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {
namespace {

double dram_us(std::uint64_t bytes, double share, const gpu_spec::GpuSpec& gpu) {
  const double rate = share * gpu.dram_bytes_per_second;
  return rate > 0 ? static_cast<double>(bytes) / rate * 1e6 : 0;
}

/// Rows that lie in one sector count once.
std::uint64_t sectors_of(const DramRows& rows) {
  std::uint64_t sectors = 0, next = 0;
  for (std::uint64_t row = 0; row < rows.height; ++row) {
    const std::uint64_t begin = rows.address + row * rows.pitch;
    const std::uint64_t first = std::max(next, begin / kSectorBytes);
    next = std::max(next, (begin + rows.width - 1) / kSectorBytes + 1);
    sectors += next - first;
  }
  return sectors;
}

}  // namespace

std::uint64_t DramRows::moved_bytes() const {
  if (width == 0 || height == 0) return 0;
  if (height == 1 || pitch == width) {
    const DramRows whole{address, 0, width * height, 1};
    return kSectorBytes * sectors_of(whole);
  }
  // Where rows lie in their sectors repeats itself, whatever the pitch: there may be very many.
  constexpr std::uint64_t kPeriod = kSectorBytes;
  const auto of_first = [&](std::uint64_t count) {
    return sectors_of({address, pitch, width, count});
  };
  if (height <= 2 * kPeriod) return kSectorBytes * of_first(height);
  const std::uint64_t each = of_first(2 * kPeriod) - of_first(kPeriod);
  const std::uint64_t begun = kPeriod + height % kPeriod;
  return kSectorBytes * (of_first(begun) + (height - begun) / kPeriod * each);
}

double fill_us(const DramRows& written, const gpu_spec::GpuSpec& gpu) {
  return dram_us(written.moved_bytes(), gpu.dram_write_share, gpu);
}

double copy_us(const DramRows& read, const DramRows& written, const gpu_spec::GpuSpec& gpu) {
  return dram_us(read.moved_bytes(), gpu.dram_read_share, gpu) + fill_us(written, gpu);
}

}  // namespace simgpu
