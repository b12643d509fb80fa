#include "simgpu/arith/bits.h"
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

template <auto F>
const Lowered* mask(const Lowered* in, Warp& warp) {
  write_predicate(warp, in->dst, F(predicate(warp, in->a)));
  return in + 1;
}

using Mask = std::uint32_t;

template <Mask (*F)(Mask, Mask)>
Implementation of_masks() {
  return {&masks<F>, "p:pp"};
}
template <Mask (*F)(Mask)>
Implementation of_mask() {
  return {&mask<F>, "p:p"};
}

template <class T>
void add_rows(std::vector<OpcodeRow>& rows, const std::string& type) {
  rows.push_back({"and." + type, lanes<&arith::and_bits<T>>(), kInteger});
  rows.push_back({"or." + type, lanes<&arith::or_bits<T>>(), kInteger});
  rows.push_back({"xor." + type, lanes<&arith::xor_bits<T>>(), kInteger});
  rows.push_back({"not." + type, lanes<&arith::not_bits<T>>(), kInteger});
  rows.push_back({"cnot." + type, lanes<&arith::cnot<T>>(), kInteger});
}

}  // namespace

#include <utility>

namespace hidden {
const Handler kNotPredicate = of_mask<&arith::not_bits<Mask>>().handler;
}  // namespace hidden

OpcodeFile logic_opcodes() {
  std::vector<OpcodeRow> rows;
  add_rows<std::uint16_t>(rows, "b16");
  add_rows<std::uint32_t>(rows, "b32");
  add_rows<std::uint64_t>(rows, "b64");
  rows.push_back({"and.pred", of_masks<&arith::and_bits<Mask>>(), kInteger});
  rows.push_back({"or.pred", of_masks<&arith::or_bits<Mask>>(), kInteger});
  rows.push_back({"xor.pred", of_masks<&arith::xor_bits<Mask>>(), kInteger});
  rows.push_back({"not.pred", of_mask<&arith::not_bits<Mask>>(), kInteger});
  rows.push_back({"mov.pred",
                  of_mask<&arith::copy<Mask>>(),
                  {.cls = InstructionClass::move, .issues = false}});
  rows.push_back({"selp.{b16|u16|s16}", lanes<&arith::select<std::uint16_t>>(), kInteger});
  rows.push_back({"selp.{b32|u32|s32}", lanes<&arith::select<std::uint32_t>>(), kInteger});
  rows.push_back({"selp.{b64|u64|s64}", lanes<&arith::select<std::uint64_t>>(), kInteger});
  rows.push_back({"selp.f32", lanes<&arith::select<float>>(), kInteger});
  rows.push_back({"selp.f64", lanes<&arith::select<double>>(), kInteger});
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
