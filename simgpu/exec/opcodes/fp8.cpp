#include "simgpu/arith/fp8.h"

#include "simgpu/exec/lanes.h"

/// cvt between 8-bit floats, two in 16 bits, and f32 or f16x2.
namespace simgpu {
namespace {

constexpr Cost kConversion{.cls = InstructionClass::conversion};

/// The first source becomes the upper half.
template <class Format, bool kRelu>
std::uint16_t from_f32(float high, float low) {
  return static_cast<std::uint16_t>(arith::f32_to_fp8<Format, kRelu>(high) << 8 |
                                    arith::f32_to_fp8<Format, kRelu>(low));
}

template <class Format, bool kRelu>
std::uint16_t from_f16(std::uint32_t halves) {
  return from_f32<Format, kRelu>(arith::f16_to_f32(arith::high_half(halves)),
                                 arith::f16_to_f32(arith::low_half(halves)));
}

template <class Format, bool kRelu>
std::uint32_t to_f16(std::uint16_t both) {
  return arith::pack_halves(
      arith::fp8_to_f16<Format, kRelu>(static_cast<std::uint8_t>(both & 0xffU)),
      arith::fp8_to_f16<Format, kRelu>(static_cast<std::uint8_t>(both >> 8)));
}

template <class Format, bool kRelu>
void add_format(std::vector<OpcodeRow>& rows, const std::string& name) {
  const std::string relu = kRelu ? ".relu" : "";
  rows.push_back({"cvt.rn.satfinite" + relu + "." + name + ".f32",
                  lanes<&from_f32<Format, kRelu>>(), kConversion});
  rows.push_back({"cvt.rn.satfinite" + relu + "." + name + ".f16x2",
                  lanes<&from_f16<Format, kRelu>>(), kConversion});
  rows.push_back(
      {"cvt.rn" + relu + ".f16x2." + name, lanes<&to_f16<Format, kRelu>>(), kConversion});
}

}  // namespace

OpcodeFile fp8_opcodes() {
  std::vector<OpcodeRow> rows;
  add_format<arith::E4m3, false>(rows, "e4m3x2");
  add_format<arith::E4m3, true>(rows, "e4m3x2");
  add_format<arith::E5m2, false>(rows, "e5m2x2");
  add_format<arith::E5m2, true>(rows, "e5m2x2");
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
