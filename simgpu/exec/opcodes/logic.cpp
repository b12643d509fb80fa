#include "simgpu/exec/lanes.h"

/// and, or, xor, not on bits and on predicates; selp.
namespace simgpu {
namespace {

constexpr Cost kInteger{.cls = InstructionClass::integer};

/// Predicates: 32 lanes at once, as masks.
template <auto F>
const Lowered* masks(const Lowered* in, Warp& warp) {
  write_predicate(warp, in->dst, F(predicate(warp, in->a), predicate(warp, in->b)));
  return in + 1;
}

std::uint32_t and_bits(std::uint32_t a, std::uint32_t b) { return a & b; }
std::uint32_t or_bits(std::uint32_t a, std::uint32_t b) { return a | b; }
std::uint32_t xor_bits(std::uint32_t a, std::uint32_t b) { return a ^ b; }

const Lowered* not_mask(const Lowered* in, Warp& warp) {
  write_predicate(warp, in->dst, ~predicate(warp, in->a));
  return in + 1;
}
const Lowered* copy_mask(const Lowered* in, Warp& warp) {
  write_predicate(warp, in->dst, predicate(warp, in->a));
  return in + 1;
}

template <class T>
void add_rows(std::vector<OpcodeRow>& rows, const std::string& type) {
  rows.push_back(
      {"and." + type, lanes<[](T a, T b) { return static_cast<T>(a & b); }>(), kInteger});
  rows.push_back({"or." + type, lanes<[](T a, T b) { return static_cast<T>(a | b); }>(), kInteger});
  rows.push_back(
      {"xor." + type, lanes<[](T a, T b) { return static_cast<T>(a ^ b); }>(), kInteger});
  rows.push_back({"not." + type, lanes<[](T a) { return static_cast<T>(~a); }>(), kInteger});
  rows.push_back({"cnot." + type, lanes<[](T a) { return static_cast<T>(a == 0); }>(), kInteger});
}

template <class T>
T select(T a, T b, bool p) {
  return p ? a : b;
}

}  // namespace

namespace hidden {
const Handler kNotPredicate = &not_mask;
}  // namespace hidden

std::vector<OpcodeRow> logic_rows() {
  std::vector<OpcodeRow> rows;
  add_rows<std::uint16_t>(rows, "b16");
  add_rows<std::uint32_t>(rows, "b32");
  add_rows<std::uint64_t>(rows, "b64");
  rows.push_back({"and.pred", {&masks<&and_bits>, "p:pp"}, kInteger});
  rows.push_back({"or.pred", {&masks<&or_bits>, "p:pp"}, kInteger});
  rows.push_back({"xor.pred", {&masks<&xor_bits>, "p:pp"}, kInteger});
  rows.push_back({"not.pred", {&not_mask, "p:p"}, kInteger});
  rows.push_back(
      {"mov.pred", {&copy_mask, "p:p"}, {.cls = InstructionClass::move, .issues = false}});
  rows.push_back({"selp.{b16|u16|s16}", lanes<&select<std::uint16_t>>(), kInteger});
  rows.push_back({"selp.{b32|u32|s32}", lanes<&select<std::uint32_t>>(), kInteger});
  rows.push_back({"selp.{b64|u64|s64}", lanes<&select<std::uint64_t>>(), kInteger});
  rows.push_back({"selp.f32", lanes<&select<float>>(), kInteger});
  rows.push_back({"selp.f64", lanes<&select<double>>(), kInteger});
  return rows;
}

}  // namespace simgpu
