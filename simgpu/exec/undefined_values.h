#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// Registers of a warp that hold undefined values: from memory that nobody has written, or from a
/// lane that has exited. Compilers load early and drop what they loaded, and a reduction reads
/// beyond the lanes that count, so that reading is no fault by itself: it is one when the value is
/// used. Until then the values are followed from register to register.
class UndefinedValues {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  bool any() const { return registers_in_use_ != 0; }
  void clear();

  /// `lanes` of a register now hold what `finding` tells of, if it comes to be used.
  void add(std::uint32_t reg, std::uint32_t lanes, const RawFinding& finding);
  /// `lanes` of a register are written: of those in `undefined` it is known from where, and the
  /// others are defined from now on.
  void set(std::uint32_t reg, std::uint32_t lanes, std::uint32_t undefined, std::uint32_t origin);

  std::uint32_t lanes(std::uint32_t reg) const {
    return reg < registers_.size() ? registers_[reg].lanes : 0;
  }
  std::uint32_t origin(std::uint32_t reg) const { return registers_[reg].origin; }
  const RawFinding& finding(std::uint32_t origin) const { return origins_[origin]; }

 private:
  struct Register {
    std::uint32_t lanes = 0;
    std::uint32_t origin = 0;
  };
  Register& at(std::uint32_t reg);

  std::vector<Register> registers_;
  std::vector<RawFinding> origins_;
  std::size_t registers_in_use_ = 0;
};

}  // namespace simgpu
