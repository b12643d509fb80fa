#include "simgpu/exec/undefined_values.h"

#include <bit>

namespace simgpu {

void UndefinedValues::clear() {
  lanes_.clear();
  registers_.clear();
  findings_.clear();
  origins_.clear();
  alive_until_ = 0;
}

std::uint16_t UndefinedValues::origin_of(const RawFinding& finding) {
  constexpr std::uint16_t kLast = std::numeric_limits<std::uint16_t>::max();
  // A loop comes to the same instruction again and again.
  const auto [known, is_new] = origins_.try_emplace(std::pair(finding.pc, finding.code), kLast);
  if (!is_new || findings_.size() == kLast) return known->second;
  findings_.push_back(finding);
  return known->second = static_cast<std::uint16_t>(findings_.size());
}

void UndefinedValues::set(std::uint32_t reg, std::uint32_t lanes, std::uint64_t bits,
                          std::uint16_t origin) {
  for (; lanes != 0; lanes &= lanes - 1) {
    set_lane(reg, static_cast<unsigned>(std::countr_zero(lanes)), bits, origin);
  }
}

void UndefinedValues::set_lane(std::uint32_t reg, unsigned lane, std::uint64_t bits,
                               std::uint16_t origin) {
  if (bits == 0) return define(reg, 1U << lane);
  if (reg >= lanes_.size()) lanes_.resize(reg + 1);
  if (lanes_[reg] == 0) alive_until_ = 0;
  lanes_[reg] |= 1U << lane;
  Register& to = registers_[reg];
  to.bits[lane] = bits;
  to.origin[lane] = origin;
}

void UndefinedValues::define(std::uint32_t reg, std::uint32_t lanes) {
  if ((this->lanes(reg) & lanes) == 0) return;
  lanes_[reg] &= ~lanes;
  if (lanes_[reg] == 0) {
    registers_.erase(reg);
    return;
  }
  LaneBits& bits = registers_.at(reg).bits;
  for (; lanes != 0; lanes &= lanes - 1) bits[static_cast<unsigned>(std::countr_zero(lanes))] = 0;
}

std::vector<std::uint32_t> UndefinedValues::registers() const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, values] : registers_) numbers.push_back(number);
  return numbers;
}

}  // namespace simgpu
