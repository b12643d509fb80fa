#include "simgpu/provenance/block_origins.h"

#include <utility>

namespace simgpu {

void WarpOrigins::push(unsigned lane) {
  std::vector<ValueOrigins> kept;
  kept.reserve(registers_.size());
  for (const Lanes& lanes : registers_) kept.push_back(lanes[lane]);
  callers_[lane].push_back(std::move(kept));
}

void WarpOrigins::pop(unsigned lane) {
  if (callers_[lane].empty()) return;
  const std::vector<ValueOrigins>& kept = callers_[lane].back();
  for (std::size_t reg = 0; reg < registers_.size(); ++reg) registers_[reg][lane] = kept[reg];
  callers_[lane].pop_back();
}

}  // namespace simgpu
