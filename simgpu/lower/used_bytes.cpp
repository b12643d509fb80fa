#include "simgpu/lower/used_bytes.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace simgpu {
namespace {

constexpr std::uint8_t kAll = 0xFF;

constexpr std::uint8_t lowest(unsigned bytes) {
  return static_cast<std::uint8_t>((1U << std::min(bytes, 8U)) - 1);
}

/// Bytes of an integer type's values: 2 for "u16"; nullopt for what is no integer.
std::optional<unsigned> integer_bytes(std::string_view type) {
  if (type.size() < 2 || (type[0] != 'u' && type[0] != 's' && type[0] != 'b')) return std::nullopt;
  const std::string_view bits = type.substr(1);
  if (bits == "8") return 1;
  if (bits == "16") return 2;
  if (bits == "32") return 4;
  if (bits == "64") return 8;
  return std::nullopt;
}

/// What an instruction uses of its sources `a` and `b` when `used` is what is used of its result.
class Transfer {
 public:
  Transfer(const Pending& pending, const std::vector<LoweredKernel::Constant>& constants) {
    const std::string_view spelling = pending.spelling;
    if (pending.hidden || !pending.outs.empty() || !pending.ins.empty() ||
        pending.dst2.kind != Ref::Kind::none) {
      return;
    }
    if (spelling.starts_with("mov.") || spelling.starts_with("selp.") ||
        spelling.starts_with("or.b") || spelling.starts_with("xor.b") ||
        spelling.starts_with("not.b")) {
      kind_ = Kind::bytewise;
    } else if (spelling.starts_with("and.b")) {
      kind_ = Kind::bytewise;
      for (const Ref* ref : {&pending.a, &pending.b}) {
        if (ref->kind == Ref::Kind::constant) mask_ &= bytes_set(constants[ref->index].bits);
      }
    } else if (spelling.starts_with("cvt.")) {
      read_conversion(spelling.substr(4));
    }
  }

  std::uint8_t sources(std::uint8_t used) const {
    switch (kind_) {
      case Kind::all:
        return kAll;
      case Kind::bytewise:
        return used & mask_;
      case Kind::extends_sign:
        // The sign of a narrower value is in its last byte.
        return (used & ~mask_) != 0 ? mask_ : used & mask_;
    }
    return kAll;
  }

 private:
  enum class Kind : std::uint8_t { all, bytewise, extends_sign };

  static std::uint8_t bytes_set(std::uint64_t bits) {
    std::uint8_t bytes = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bits >> (8 * i) & 0xFF) != 0) bytes |= static_cast<std::uint8_t>(1U << i);
    }
    return bytes;
  }
  /// @param types "u16.u64": without a modifier, so that nothing saturates or rounds
  void read_conversion(std::string_view types) {
    const std::size_t dot = types.find('.');
    if (dot == std::string_view::npos) return;
    const std::string_view to = types.substr(0, dot), from = types.substr(dot + 1);
    const auto to_bytes = integer_bytes(to), from_bytes = integer_bytes(from);
    if (!to_bytes || !from_bytes) return;
    mask_ = lowest(std::min(*to_bytes, *from_bytes));
    const bool extends = *to_bytes > *from_bytes && from[0] == 's';
    // A result of 8 or 16 bits lies in a wider register, extended.
    const bool fills = to[0] == 's' && *to_bytes < 4;
    kind_ = extends || fills ? Kind::extends_sign : Kind::bytewise;
  }

  Kind kind_ = Kind::all;
  std::uint8_t mask_ = kAll;
};

/// Adds what one instruction uses. @returns whether that was new
bool add_uses(const Pending& pending, const Transfer& transfer, std::vector<std::uint8_t>& used) {
  bool changed = false;
  const auto use = [&](const Ref& ref, std::uint8_t bytes) {
    if (ref.kind != Ref::Kind::reg || (used[ref.index] | bytes) == used[ref.index]) return;
    used[ref.index] |= bytes;
    changed = true;
  };
  const std::uint8_t of_result =
      pending.dst.kind == Ref::Kind::reg ? used[pending.dst.index] : kAll;
  const std::uint8_t bytes = transfer.sources(of_result);
  use(pending.a, pending.only_stores ? kAll : bytes);
  use(pending.c, kAll);
  use(pending.d, kAll);
  use(pending.guard, kAll);
  if (pending.only_stores) return changed;
  use(pending.b, bytes);
  for (const Ref& ref : pending.ins) use(ref, kAll);
  return changed;
}

}  // namespace

std::vector<std::uint8_t> find_used_bytes(const std::vector<Pending>& code, std::size_t registers,
                                          const std::vector<LoweredKernel::Constant>& constants) {
  std::vector<std::uint8_t> used(registers, 0);
  std::vector<Transfer> transfers;
  transfers.reserve(code.size());
  for (const Pending& pending : code) transfers.emplace_back(pending, constants);
  // Backwards, most uses are known before what they use. Chains through loops take a few rounds.
  constexpr unsigned kRounds = 16;
  bool changed = true;
  for (unsigned round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (std::size_t i = code.size(); i-- > 0;) {
      changed = add_uses(code[i], transfers[i], used) || changed;
    }
  }
  if (changed) std::fill(used.begin(), used.end(), kAll);
  return used;
}

std::uint16_t used_of_access(const Pending& load, const std::vector<std::uint8_t>& used) {
  const auto elements = static_cast<unsigned>(std::max<std::size_t>(load.outs.size(), 1));
  const unsigned bytes = load.access_bytes / elements;
  std::uint16_t all = 0;
  for (unsigned i = 0; i < elements; ++i) {
    const Ref& ref = load.outs.empty() ? load.dst : load.outs[i];
    if (ref.kind != Ref::Kind::reg) continue;
    std::uint8_t of_element = used[ref.index];
    // A narrow value is extended to its register, perhaps by its sign.
    if (bytes < 4 && (of_element & ~lowest(bytes)) != 0) of_element = lowest(bytes);
    all |= static_cast<std::uint16_t>((of_element & lowest(bytes)) << (i * bytes));
  }
  return all;
}

}  // namespace simgpu
