#include "simgpu/arith/integer.h"

namespace simgpu::arith {
namespace {

/// Selectors of prmt's special modes for each value of the control's low two bits ("prmt", PTX
/// ISA), the most significant byte first.
constexpr std::uint16_t kForward4[] = {0x3210, 0x4321, 0x5432, 0x6543};
constexpr std::uint16_t kBackward4[] = {0x5670, 0x6701, 0x7012, 0x0123};
constexpr std::uint16_t kReplicate8[] = {0x0000, 0x1111, 0x2222, 0x3333};
constexpr std::uint16_t kEdgeClampLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
constexpr std::uint16_t kEdgeClampRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
constexpr std::uint16_t kReplicate16[] = {0x1010, 0x3232, 0x1010, 0x3232};

const std::uint16_t* selectors(PermuteMode mode) {
  switch (mode) {
    case PermuteMode::f4e:
      return kForward4;
    case PermuteMode::b4e:
      return kBackward4;
    case PermuteMode::rc8:
      return kReplicate8;
    case PermuteMode::ecl:
      return kEdgeClampLeft;
    case PermuteMode::ecr:
      return kEdgeClampRight;
    case PermuteMode::rc16:
      return kReplicate16;
    case PermuteMode::index:
      break;
  }
  return nullptr;
}

}  // namespace

std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t control, PermuteMode mode) {
  const std::uint16_t* table = selectors(mode);
  return prmt_index(a, b, table == nullptr ? control : table[control & 3u]);
}

std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  if (base > 31) return kNone;
  if (n == 0) return (mask >> base & 1u) != 0 ? base : kNone;
  const int step = n > 0 ? 1 : -1;
  std::int64_t wanted = n > 0 ? std::int64_t{n} : -std::int64_t{n};
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1u) != 0 && --wanted == 0) return static_cast<std::uint32_t>(bit);
  }
  return kNone;
}

}  // namespace simgpu::arith
