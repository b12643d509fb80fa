#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// Bits of a register's 32 values. Of a predicate only bit 0 counts.
using LaneBits = std::array<std::uint64_t, kWarpSize>;

/// Registers of a warp that hold undefined values: from memory that nobody has written, from a lane
/// that has exited, or because nothing has written the register. Compilers load early and drop what
/// they loaded, and a reduction reads beyond the lanes that count, so that reading is no fault by
/// itself: it is one when the value is used. Until then the values are followed from register to
/// register, bit by bit.
class UndefinedValues {
 public:
  /// Origin of values of a register that nothing has written, while they are only moved.
  static constexpr std::uint16_t kUnwritten = 0;

  bool any() const { return !registers_.empty(); }
  void clear();

  /// A number for what `finding` reports, if such a value comes to be used. Beyond 65,535 places of
  /// one warp it is that of the last one.
  std::uint16_t origin_of(const RawFinding& finding);
  const RawFinding& finding(std::uint16_t origin) const { return findings_[origin - 1]; }

  /// `lanes` of a register now hold values of which `bits` are undefined.
  void set(std::uint32_t reg, std::uint32_t lanes, std::uint64_t bits, std::uint16_t origin);
  void set_lane(std::uint32_t reg, unsigned lane, std::uint64_t bits, std::uint16_t origin);
  /// `lanes` of a register are defined from now on.
  void define(std::uint32_t reg, std::uint32_t lanes);

  /// Lanes of a register with undefined bits.
  std::uint32_t lanes(std::uint32_t reg) const { return reg < lanes_.size() ? lanes_[reg] : 0; }
  /// Only of a register that has such lanes.
  const LaneBits& bits(std::uint32_t reg) const { return registers_.at(reg).bits; }
  std::uint16_t origin(std::uint32_t reg, unsigned lane) const {
    return registers_.at(reg).origin[lane];
  }
  /// The registers with undefined bits.
  std::vector<std::uint32_t> registers() const;

  /// Instruction up to which all of them are alive, if somebody has noted it since the last of them
  /// came to be undefined; else 0.
  std::uint32_t alive_until() const { return alive_until_; }
  void note_alive_until(std::uint32_t instruction) { alive_until_ = instruction; }

 private:
  struct Register {
    LaneBits bits{};
    std::array<std::uint16_t, kWarpSize> origin{};
  };

  std::vector<std::uint32_t> lanes_;  // by register
  std::map<std::uint32_t, Register> registers_;
  std::vector<RawFinding> findings_;
  std::map<std::pair<std::uint32_t, Code>, std::uint16_t> origins_;  ///< by pc and code
  std::uint32_t alive_until_ = 0;
};

}  // namespace simgpu
