#include "simgpu/replay/shared_image.h"

#include <algorithm>
#include <utility>

namespace simgpu::replay {

void SharedImage::store(std::uint32_t first, std::span<const std::uint8_t> bytes,
                        std::uint32_t warp, std::uint32_t place) {
  const std::size_t end = std::size_t{first} + bytes.size();
  if (end > bytes_.size()) bytes_.resize(end);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Byte& byte = bytes_[first + i];
    if (!std::exchange(byte.is_stored, true)) {
      stored_.push_back(first + static_cast<std::uint32_t>(i));
    }
    byte.value = bytes[i];
    byte.warp = warp;
    byte.place = place;
  }
}

std::vector<SharedBytes> SharedImage::runs() const {
  std::ranges::sort(stored_);
  std::vector<SharedBytes> runs;
  for (const std::uint32_t at : stored_) {
    const Byte& byte = bytes_[at];
    const bool goes_on = !runs.empty() && runs.back().first + runs.back().bytes.size() == at &&
                         runs.back().warp == byte.warp && runs.back().place == byte.place;
    if (!goes_on) runs.push_back({at, {}, byte.warp, byte.place});
    runs.back().bytes.push_back(byte.value);
  }
  return runs;
}

std::vector<SharedBytes> SharedImage::take_runs() {
  std::vector<SharedBytes> taken = runs();
  for (const std::uint32_t at : stored_) bytes_[at] = {};
  stored_.clear();
  return taken;
}

}  // namespace simgpu::replay
