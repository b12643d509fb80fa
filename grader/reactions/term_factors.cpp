#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "grader/reactions/term_laws.h"
#include "grader/reactions/term_monomials.h"

namespace rooflab {
namespace {

Number no_scale(const TermRow&) { return 0; }

/// What the factor between two units tells: powers of ten up to 10^12 and of 1024 up to 1024^4,
/// against 1 and against each other, and a share in percent. Nothing for all others.
std::optional<std::string> unit_of(Number factor) {
  constexpr Number kSame = 1e-9L;
  const auto is = [&](Number other) { return std::abs(factor / other - 1) <= kSame; };
  constexpr std::array<const char*, 5> kDecimal{"1", "1000", "10^6", "10^9", "10^12"};
  constexpr std::array<const char*, 5> kBinary{"1", "1024", "1024^2", "1024^3", "1024^4"};
  const auto other_unit = [](const char* times, const char* what) {
    return fmt::format("is the right number in another unit, {} times too {}", times, what);
  };
  const auto mixed = [](const char* there, const char* due) {
    return fmt::format(
        "mixes powers of 1024 with powers of ten, and is {} / {} of what it should be", there, due);
  };
  for (std::size_t i = 1; i < kDecimal.size(); ++i) {
    const Number ten = std::pow(1000.0L, i), two = std::pow(1024.0L, i);
    const char *decimal = kDecimal.at(i), *binary = kBinary.at(i);
    if (is(ten)) return other_unit(decimal, "large");
    if (is(1 / ten)) return other_unit(decimal, "small");
    if (is(two)) return other_unit(binary, "large");
    if (is(1 / two)) return other_unit(binary, "small");
    if (is(two / ten)) return mixed(binary, decimal);
    if (is(ten / two)) return mixed(decimal, binary);
  }
  if (is(100)) return "is in percent, where a share of 1 is all of it";
  if (is(0.01L)) return "is divided by 100, as if it had been in percent";
  return std::nullopt;
}

/// "twice", "1/3 of", "3/2 times".
std::string times_text(Number factor) {
  if (factor == 2) return "twice";
  if (factor == 0.5L) return "half of";
  if (factor == std::round(factor)) return text_of_number(factor) + " times";
  if (1 / factor == std::round(1 / factor)) {
    return fmt::format("1/{} of", text_of_number(1 / factor));
  }
  for (int below = 2; below <= 16; ++below) {
    if (std::abs(factor * below - std::round(factor * below)) > 1e-9L) continue;
    return fmt::format("{}/{} times", text_of_number(std::round(factor * below)), below);
  }
  return text_of_number(factor) + " times";
}

/// What one parameter's power tells, beside the power that it should have.
std::string power_text(const std::string& name, const std::string& result, int more, int due) {
  if (due > 0 && more == -due) return fmt::format("{} lacks the factor {}", result, name);
  if (due < 0 && more == -due) return fmt::format("{} is not divided by {}", result, name);
  if (due == 0 && more > 0) {
    return fmt::format("{} is multiplied by {}, which has no part in it", result, name);
  }
  if (due == 0) return fmt::format("{} is divided by {}, which has no part in it", result, name);
  if (due > 0 && more == -2 * due) {
    return fmt::format("{} is divided by {} where it should be multiplied", result, name);
  }
  if (due < 0 && more == -2 * due) {
    return fmt::format("{} is multiplied by {} where it should be divided", result, name);
  }
  if (due > 0) {
    return fmt::format("{} grows with {}^{} where {} is due", result, name, due + more,
                       due == 1 ? name : fmt::format("{}^{}", name, due));
  }
  return fmt::format("{} is divided by {}^{} where {} is due", result, name, -(due + more),
                     due == -1 ? name : fmt::format("{}^{}", name, -due));
}

Law constant_law(const TermTable& table, std::size_t result, Number factor) {
  const std::string& name = table.results()[result];
  if (factor == -1) {
    return {"RL0406", fmt::format("{} has the wrong sign: {}", name, in_this_case(table, result)),
            "which of the two is subtracted from which?"};
  }
  if (const auto unit = unit_of(factor)) {
    return {"RL0406", fmt::format("{} {}: {}", name, *unit, in_this_case(table, result)),
            "write the unit of each number beside it; a prefix of a rate is a power of ten"};
  }
  return {"RL0407",
          fmt::format("{} is {} what it should be, whatever the parameters are: {}", name,
                      times_text(factor), in_this_case(table, result)),
          factor == 8 || 8 * factor == 1
              ? "a byte has 8 bits: is one counted where the other is due?"
              : "look for a constant that is missing, or there once too often"};
}

/// The only two parameters that are there, one above and one below; else nothing.
struct InPlaceOf {
  std::size_t there, due;
};
std::optional<InPlaceOf> in_place_of(const Monomial& ratio) {
  std::optional<std::size_t> there, due;
  for (std::size_t i = 0; i < ratio.powers.size(); ++i) {
    if (ratio.powers[i] == 0) continue;
    std::optional<std::size_t>& place = ratio.powers[i] > 0 ? there : due;
    if (place || std::abs(ratio.powers[i]) != 1) return std::nullopt;
    place = i;
  }
  if (!there || !due || ratio.factor != 1) return std::nullopt;
  return InPlaceOf{*there, *due};
}

/// The quotient that makes this ratio where it is upside down.
std::optional<Monomial> upside_down(const TermTable& table, const Monomial& ratio,
                                    const std::function<Number(const TermRow&)>& expected) {
  if (ratio.factor != 1) return std::nullopt;
  Monomial quotient{1, std::vector<int>(ratio.powers.size(), 0)};
  bool divides = false, multiplies = false;
  for (std::size_t i = 0; i < ratio.powers.size(); ++i) {
    if (ratio.powers[i] == 0) continue;
    const auto due = power_in(table, i, expected);
    if (!due || ratio.powers[i] != -2 * *due) return std::nullopt;
    quotient.powers[i] = *due;
    (*due < 0 ? divides : multiplies) = true;
  }
  if (!divides || !multiplies) return std::nullopt;
  return quotient;
}

}  // namespace

std::optional<Law> factor_law(const TermTable& table, std::size_t result) {
  const auto expected = [&](const TermRow& row) { return row.expected[result]; };
  const auto ratio_of = [&](const TermRow& row) { return row.got[result] / row.expected[result]; };
  const auto ratio = as_monomial(table, ratio_of, no_scale);
  if (!ratio) return std::nullopt;
  const auto factor = small_fraction(ratio->factor);
  if (ratio->is_constant()) {
    if (!factor && !unit_of(ratio->factor)) return std::nullopt;
    return constant_law(table, result, ratio->factor);
  }
  if (!factor) return std::nullopt;
  const std::string& name = table.results()[result];
  const std::string here = fmt::format("at {} it is {}", values_of(*ratio, table, table.base()),
                                       in_this_case(table, result));
  const auto due = as_monomial(table, expected, no_scale);
  const bool is_reciprocal = due && std::ranges::all_of(table.rows(), [&](const TermRow& row) {
                               return is_same(row.got[result] * row.expected[result], 1);
                             });
  if (is_reciprocal) {
    return Law{"RL0406",
               fmt::format("{} is the reciprocal of what it should be: {}", name,
                           in_this_case(table, result)),
               "a quotient is upside down: check it by its unit"};
  }
  if (const auto quotient = upside_down(table, *ratio, expected)) {
    return Law{"RL0541",
               fmt::format("{} has {} upside down: {}", name, text_of(*quotient, table), here),
               "check the quotient by its unit"};
  }
  if (const auto place = in_place_of(*ratio)) {
    return Law{"RL0541",
               fmt::format("{} counts {} where {} is due: {}", name,
                           table.parameters()[place->there], table.parameters()[place->due], here),
               "name the extents of each array, and see which of them this product runs over"};
  }
  std::size_t count = 0, only = 0;
  for (std::size_t i = 0; i < ratio->powers.size(); ++i) {
    if (ratio->powers[i] == 0) continue;
    ++count;
    only = i;
  }
  const char* advice = "set this parameter to 1, then to 2: how should the result change?";
  const auto due_power = power_in(table, only, expected);
  if (count == 1 && *factor == 1 && due_power) {
    return Law{
        "RL0541",
        power_text(table.parameters()[only], name, ratio->powers[only], *due_power) + ": " + here,
        advice};
  }
  return Law{
      "RL0541",
      fmt::format("{} is {} times what it should be: {}", name, text_of(*ratio, table), here),
      "see which factors of the product are there twice, and which are not there"};
}

}  // namespace rooflab
