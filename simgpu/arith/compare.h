#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "simgpu/arith/half.h"

/// Comparisons of setp, set and slct, for integers and floating-point numbers.
namespace simgpu::arith {

/// Ordered comparisons are false where an operand is NaN, ne included; the unordered ones (…u) are
/// true there. lo, ls, hi, hs are lt, le, gt, ge of unsigned integers. num: neither is NaN; nan:
/// one is.
enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};

/// From a modifier, as "lt" or "hs"; nothing for what is no comparison.
std::optional<Comparison> comparison_of(std::string_view modifier);

template <Comparison kComparison, class Number>
inline bool compare(Number a, Number b) {
  using enum Comparison;
  constexpr bool kFloat = std::is_floating_point_v<Number>;
  bool unordered = false;
  if constexpr (kFloat) unordered = a != a || b != b;
  if constexpr (kComparison == num) return !unordered;
  if constexpr (kComparison == nan) return unordered;
  if constexpr (kComparison == eq) return a == b;
  if constexpr (kComparison == ne) return !unordered && a != b;
  if constexpr (kComparison == lt) return a < b;
  if constexpr (kComparison == le) return a <= b;
  if constexpr (kComparison == gt) return a > b;
  if constexpr (kComparison == ge) return a >= b;
  if constexpr (kComparison == equ) return unordered || a == b;
  if constexpr (kComparison == neu) return a != b;
  if constexpr (kComparison == ltu) return unordered || a < b;
  if constexpr (kComparison == leu) return unordered || a <= b;
  if constexpr (kComparison == gtu) return unordered || a > b;
  if constexpr (kComparison == geu) return unordered || a >= b;
}

/// The same with the comparison known only at run time.
template <class Number>
inline bool compare(Comparison comparison, Number a, Number b) {
  switch (comparison) {
    case Comparison::eq:
      return compare<Comparison::eq>(a, b);
    case Comparison::ne:
      return compare<Comparison::ne>(a, b);
    case Comparison::lt:
      return compare<Comparison::lt>(a, b);
    case Comparison::le:
      return compare<Comparison::le>(a, b);
    case Comparison::gt:
      return compare<Comparison::gt>(a, b);
    case Comparison::ge:
      return compare<Comparison::ge>(a, b);
    case Comparison::equ:
      return compare<Comparison::equ>(a, b);
    case Comparison::neu:
      return compare<Comparison::neu>(a, b);
    case Comparison::ltu:
      return compare<Comparison::ltu>(a, b);
    case Comparison::leu:
      return compare<Comparison::leu>(a, b);
    case Comparison::gtu:
      return compare<Comparison::gtu>(a, b);
    case Comparison::geu:
      return compare<Comparison::geu>(a, b);
    case Comparison::num:
      return compare<Comparison::num>(a, b);
    case Comparison::nan:
      return compare<Comparison::nan>(a, b);
  }
  return false;
}

/// How setp and set join the comparison with a predicate operand.
enum class PredicateJoin : std::uint8_t { none, conjunction, disjunction, exclusive };

inline bool join(PredicateJoin how, bool compared, bool predicate) {
  switch (how) {
    case PredicateJoin::conjunction:
      return compared && predicate;
    case PredicateJoin::disjunction:
      return compared || predicate;
    case PredicateJoin::exclusive:
      return compared != predicate;
    case PredicateJoin::none:
      break;
  }
  return compared;
}

/// The same for the predicates of all lanes.
inline std::uint32_t join_masks(PredicateJoin how, std::uint32_t compared,
                                std::uint32_t predicate) {
  switch (how) {
    case PredicateJoin::conjunction:
      return compared & predicate;
    case PredicateJoin::disjunction:
      return compared | predicate;
    case PredicateJoin::exclusive:
      return compared ^ predicate;
    case PredicateJoin::none:
      break;
  }
  return compared;
}

/// slct: a if c >= 0, else b; a NaN counts as below zero, -0 as zero.
template <class Value, class Selector>
inline Value slct(Value a, Value b, Selector c) {
  return c >= 0 ? a : b;
}

}  // namespace simgpu::arith
