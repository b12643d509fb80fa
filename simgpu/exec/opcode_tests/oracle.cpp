#include "simgpu/exec/opcode_tests/oracle.h"

#include "simgpu/exec/opcode_tests/form.h"

namespace simgpu::opcode_tests {

HalfFormat::HalfFormat(int precision, int bias, std::uint64_t infinity)
    : fraction_bits_(precision - 1),
      bias_(bias),
      infinity_(infinity),
      one_(static_cast<std::uint64_t>(bias) << (precision - 1)) {}

const HalfFormat& HalfFormat::f16() {
  static const HalfFormat format(11, 15, 0x7c00);
  return format;
}

const HalfFormat& HalfFormat::bf16() {
  static const HalfFormat format(8, 127, 0x7f80);
  return format;
}

double HalfFormat::decode(std::uint64_t bits) const {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & 0x7fff;
  if (magnitude > infinity_) return std::nan("");
  if (magnitude == infinity_) return sign * INFINITY;
  const auto exponent = static_cast<int>(magnitude >> fraction_bits_);
  const auto fraction = static_cast<double>(magnitude & ((1u << fraction_bits_) - 1));
  const double unit = std::ldexp(1.0, std::max(exponent, 1) - bias_ - fraction_bits_);
  return sign * unit * (exponent == 0 ? fraction : fraction + (1 << fraction_bits_));
}

std::uint64_t HalfFormat::round(Quad x, const std::string& mode, bool negative_zero) const {
  if (x != x) return 0x7fff;
  const bool negative = x == 0 ? negative_zero : x < 0;
  const std::uint64_t sign = negative ? 0x8000 : 0;
  const Quad magnitude = x < 0 ? -x : x;
  if (magnitude - magnitude != 0) return sign | infinity_;
  // The pattern of infinity stands for the power of two that would come next.
  const double next = std::ldexp(1.0, bias_ + 1);
  const auto value = [&](std::uint64_t bits) { return bits == infinity_ ? next : decode(bits); };
  std::uint64_t low = 0;
  std::uint64_t high = infinity_;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (value(middle) <= magnitude ? low : high) = middle;
  }
  if (value(low) == magnitude) return sign | low;
  const bool beyond = magnitude >= value(high);
  const Quad below = magnitude - value(low);
  const Quad above = value(high) - magnitude;
  bool up = false;
  if (mode == "rn") up = beyond || below > above || (below == above && low % 2 == 1);
  if (mode == "rm") up = negative;
  if (mode == "rp") up = !negative;
  return sign | (up ? high : low);
}

unsigned width_of(const std::string& type) {
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}

Wide integer_of(std::uint64_t bits, const std::string& type) {
  const unsigned width = width_of(type);
  const Wide value = static_cast<Wide>(cut(static_cast<Wide>(bits), width));
  const Wide top = Wide{1} << (width - 1);
  return is_signed(type) && value >= top ? value - 2 * top : value;
}

Wide lowest(const std::string& type) {
  return is_signed(type) ? -(Wide{1} << (width_of(type) - 1)) : Wide{0};
}

Wide highest(const std::string& type) {
  return (Wide{1} << (width_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

unsigned register_bits(const std::string& type) {
  if (type == "pred") return 1;
  if (type.ends_with("x2") || type == "tf32") return 32;
  const unsigned width = width_of(type);
  return width < 16 ? 16 : width;
}

}  // namespace simgpu::opcode_tests
