#include "simgpu/provenance/block_origins.h"

namespace simgpu {

bool WarpOrigins::push(unsigned lane) {
  Callers& callers = callers_[lane];
  if (callers.not_kept > 0 || kept_ + registers_.size() > kMostKept) {
    ++callers.not_kept;
    return false;
  }
  std::vector<ValueOrigins>& kept = callers.registers.emplace_back();
  kept.reserve(registers_.size());
  for (const Lanes& lanes : registers_) kept.push_back(lanes[lane]);
  kept_ += kept.size();
  return true;
}

void WarpOrigins::pop(unsigned lane) {
  Callers& callers = callers_[lane];
  if (callers.not_kept > 0) {
    --callers.not_kept;
  } else if (!callers.registers.empty()) {
    const std::vector<ValueOrigins>& kept = callers.registers.back();
    for (std::size_t reg = 0; reg < registers_.size(); ++reg) registers_[reg][lane] = kept[reg];
    kept_ -= kept.size();
    callers.registers.pop_back();
  }
}

}  // namespace simgpu
