#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/diagnose/misplaced.h"
#include "grader/diagnose/relation.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

/// Fewer elements than this prove no rule: it would fit by chance.
constexpr std::size_t kFewestElements = 8;
/// An element that is so many times its tolerance tells a factor.
constexpr double kTelling = 8;
/// Factors that differ by less are one.
constexpr double kSameFactor = 1e-3;
/// Of the elements' size: larger errors are not those of roundings.
constexpr double kSmallError = 0.01;

/// What an element may be off by; of copies, which are exact, as much as a rounding.
double bound_of(const TensorCheck& check, std::size_t i) {
  constexpr double kRounding = 0x1p-23;
  return std::max(check.tolerance[i], kRounding * std::abs(check.expected[i]));
}

/// Some elements of a tensor: first, first + step, ….
struct Line {
  std::size_t first, step, count;
  std::size_t operator[](std::size_t i) const { return first + i * step; }
};

bool all_finite(const TensorCheck& check) {
  const auto finite = [](double value) { return std::isfinite(value); };
  return std::ranges::all_of(check.got, finite) && std::ranges::all_of(check.expected, finite);
}

/// Whether a factor explains what is wrong: most of the line's telling elements become others by it
/// than they should be, and others than zero. Each row of zeros is 0 times any other row.
bool tells_difference(const TensorCheck& check, const Line& line, double factor) {
  std::size_t telling = 0, moved = 0;
  for (std::size_t i = 0; i < line.count; ++i) {
    const double bound = bound_of(check, line[i]);
    const double size = std::abs(check.expected[line[i]]);
    if (size <= kTelling * bound) continue;
    ++telling;
    moved += std::abs(factor - 1) * size > bound && std::abs(factor) * size > bound;
  }
  return 2 * moved > telling;
}

/// The factor that makes the line of the expected one, where one does: fitted by least squares of
/// errors against tolerances.
std::optional<double> factor_of(const TensorCheck& check, const Line& line) {
  double product = 0, square = 0;
  std::size_t telling = 0;
  for (std::size_t i = 0; i < line.count; ++i) {
    const std::size_t at = line[i];
    const double bound = bound_of(check, at);
    if (bound <= 0) continue;
    product += check.got[at] / bound * (check.expected[at] / bound);
    square += check.expected[at] / bound * (check.expected[at] / bound);
    telling += std::abs(check.expected[at]) > kTelling * bound;
  }
  if (telling < std::min(kFewestElements, line.count / 2 + 1) || !std::isfinite(square)) return {};
  const double factor = product / square;
  for (std::size_t i = 0; i < line.count; ++i) {
    const std::size_t at = line[i];
    const double bound = std::max(1.0, std::abs(factor)) * bound_of(check, at);
    if (!(std::abs(check.got[at] - factor * check.expected[at]) <= bound)) return {};
  }
  if (!tells_difference(check, line, factor)) return {};
  return factor;
}

struct FactorText {
  std::string times;  ///< "twice", "0.125 times"
  const char* help;
};

FactorText text_of(double factor) {
  constexpr double kNear = 5e-4;
  const auto near = [](double value, double other) { return std::abs(value / other - 1) < kNear; };
  const double whole = std::round(factor), parts = std::round(1 / factor);
  if (near(factor, -1)) {
    return {"minus once", "look for a sign: the order of a difference, or a turn the other way"};
  }
  if (whole >= 2 && near(factor, whole)) {
    return {fmt::format("{:.0f} times", whole),
            "what counts so often? Several threads may each add all of the work, a loop may run "
            "too often, or a factor may be missing that divides"};
  }
  if (parts >= 2 && near(1 / factor, parts)) {
    return {fmt::format("1/{:.0f} times", parts),
            "what is divided by that once too often, or left out of the sums? A scale or a mean "
            "that is taken twice is the usual cause"};
  }
  constexpr double kAlmostOne = 1e-3;
  if (std::abs(factor - 1) < kAlmostOne) {
    // As many digits as tell it from 1, and two more.
    const int digits = 3 - static_cast<int>(std::floor(std::log10(std::abs(factor - 1))));
    return {fmt::format("{:.{}g} times", factor, std::min(digits, 17)),
            "look for a constant with too few digits, a small term such as epsilon, and a rounding "
            "that all elements share"};
  }
  return {fmt::format("{:.4g} times", factor),
          "look for a factor that is missing, taken twice, or wrong: a scale, a mean, a root, a "
          "change of base"};
}

std::optional<Relation> one_value(const TensorCheck& check, const DiagnoseContext& context) {
  const double value = check.got.front();
  const auto is_value = [&](double got) { return got == value; };
  const auto [least, most] = std::ranges::minmax(check.expected);
  if (!std::ranges::all_of(check.got, is_value) || !(most - least > 0)) return {};
  return Relation{
      "RL0432",
      context.hidden ? fmt::format("every element of {} has the same value", check.tensor)
                     : fmt::format("every element of {} is {}: the same value everywhere",
                                   check.tensor, number_text(value)),
      "does what is stored depend on the thread's index, and does the result reach the store?"};
}

/// What a parameter of the problem has to do with the factor, as a clause; empty where none has, or
/// several may have.
std::string words_of_parameter(double factor, const std::map<std::string, double>& parameters) {
  constexpr double kNear = 5e-4;
  const auto is = [factor](double value) { return std::abs(factor / value - 1) < kNear; };
  std::string words;
  for (const auto& [name, value] : parameters) {
    if (value == 0 || !std::isfinite(value) || std::abs(std::abs(value) - 1) < kNear) continue;
    if (!is(value) && !is(1 / value)) continue;
    if (!words.empty()) return {};
    words = is(value) ? fmt::format("it is multiplied by {} once too often", name)
                      : fmt::format("it lacks the factor {}", name);
  }
  return words;
}

std::optional<Relation> one_factor(const TensorCheck& check, const DiagnoseContext& context) {
  const auto factor = factor_of(check, {0, 1, check.got.size()});
  if (!factor) return {};
  const FactorText text = text_of(*factor);
  const std::string words = words_of_parameter(*factor, check.real_parameters);
  return Relation{
      "RL0404",
      fmt::format("every element of {} is {}{}{}", check.tensor,
                  context.hidden ? "off by the same factor" : text.times + " what it should be",
                  words.empty() ? "" : ": ", words),
      text.help};
}

/// The factors of lines that are off, when every line is right but for one.
struct LineFactors {
  std::vector<std::pair<std::size_t, double>> off;  ///< line and factor
  double least = INFINITY, most = -INFINITY;
};
template <typename LineAt>
std::optional<LineFactors> factors_of_lines(const TensorCheck& check, std::size_t lines,
                                            const LineAt& line_at) {
  LineFactors factors;
  for (std::size_t l = 0; l < lines; ++l) {
    const Line line = line_at(l);
    bool wrong = false;
    for (std::size_t i = 0; i < line.count; ++i) wrong = wrong || check.wrong[line[i]];
    if (!wrong) continue;
    const auto factor = factor_of(check, line);
    if (!factor) return {};
    factors.off.emplace_back(l, *factor);
    factors.least = std::min(factors.least, *factor);
    factors.most = std::max(factors.most, *factor);
  }
  if (factors.off.size() < 2) return {};
  return factors;
}

std::optional<Relation> factor_of_each_line(const TensorCheck& check,
                                            const DiagnoseContext& context) {
  if (check.shape.empty() || !check.index.empty()) return {};
  const auto columns = static_cast<std::size_t>(check.shape.back());
  const std::size_t rows = check.got.size() / columns;
  const auto told = [&](const char* name, const LineFactors& factors, const char* help) {
    if (factors.most - factors.least < kSameFactor * std::abs(factors.most)) {
      return Relation{
          "RL0409",
          context.hidden
              ? fmt::format("some {}s of {} are off by one factor", name, check.tensor)
              : fmt::format("{} {}s of {} are {} what they should be", factors.off.size(), name,
                            check.tensor, text_of(factors.most).times),
          text_of(factors.most).help};
    }
    std::string message =
        fmt::format("each {} of {} is right but for a factor of its own", name, check.tensor);
    if (!context.hidden) {
      message += fmt::format(": {:.4g} in {} {}, {:.4g} in {} {}", factors.off.front().second, name,
                             factors.off.front().first, factors.off.back().second, name,
                             factors.off.back().first);
    }
    return Relation{"RL0409", message, help};
  };
  if (columns >= kFewestElements && rows >= 2) {
    const auto factors = factors_of_lines(check, rows, [&](std::size_t row) {
      return Line{row * columns, 1, columns};
    });
    if (factors) {
      return told("row", *factors,
                  "elements of a row have the right proportions, so what scales a whole row is "
                  "wrong: the sum over the row that it is divided by, and who takes part in that "
                  "sum");
    }
  }
  if (rows >= kFewestElements && columns >= 2) {
    const auto factors = factors_of_lines(check, columns, [&](std::size_t column) {
      return Line{column, columns, rows};
    });
    if (factors) {
      return told("column", *factors,
                  "the columns have the right proportions, so what scales a whole column is wrong: "
                  "the weight of the column, and which element of it is read");
    }
  }
  return {};
}

/// The size of a row's elements: the root of their mean square, but not that of one element which
/// is far larger than the others.
double size_of_row(const TensorCheck& check, std::size_t first, std::size_t columns) {
  constexpr double kOutlier = 4;  // times the median; of a normal distribution it is 1.5
  std::vector<double> sizes(columns);
  double squares = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    sizes[i] = std::abs(check.expected[first + i]);
    squares += sizes[i] * sizes[i];
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(columns / 2);
  std::ranges::nth_element(sizes, middle);
  const double mean = std::sqrt(squares / static_cast<double>(columns));
  return *middle > 0 ? std::min(mean, kOutlier * *middle) : mean;
}

/// All errors are small against the elements of their row.
std::optional<Relation> small_errors(const TensorCheck& check, const DiagnoseContext& context) {
  if (check.shape.empty()) return {};
  const auto columns =
      check.index.empty() ? static_cast<std::size_t>(check.shape.back()) : check.got.size();
  double largest = 0, largest_of_own = 0;
  for (std::size_t first = 0; first < check.got.size(); first += columns) {
    const double size = size_of_row(check, first, columns);
    for (std::size_t i = first; i < first + columns; ++i) {
      if (!check.wrong[i]) continue;
      const double error = std::abs(check.got[i] - check.expected[i]);
      const double share = error / std::max(size, std::abs(check.expected[i]));
      if (!(share < kSmallError)) return {};
      largest = std::max(largest, share);
      largest_of_own = std::max(largest_of_own, error / std::abs(check.expected[i]));
    }
  }
  // A rounding of each element is a share of the element, however large others of its row are.
  const bool is_of_each = largest_of_own < kSmallError;
  std::string message = "all errors are small: something is rounded or approximated on the way";
  if (!context.hidden) {
    message = fmt::format(
        "all errors are small, at most {:.2g} % of {}: something is rounded or approximated on the "
        "way",
        100 * (is_of_each ? largest_of_own : largest),
        is_of_each ? "the element" : "the size of the elements");
  }
  return Relation{
      "RL0435", message,
      "look for sums or values in half or bfloat16, for fast intrinsics such as __expf and __sinf, "
      "for constants with few digits, and for a term that is small, such as epsilon",
      fmt::format(
          "the tolerance of {} allows for the roundings of fp32 sums and of the stored type",
          check.tensor)};
}

}  // namespace

std::optional<Relation> relation_of_values(const TensorCheck& check,
                                           const DiagnoseContext& context) {
  if (check.got.size() < kFewestElements || check.unwritten_count > 0 || !all_finite(check)) {
    return {};
  }
  for (const auto rule :
       {one_value, one_factor, misplaced_values, factor_of_each_line, small_errors}) {
    if (auto relation = rule(check, context)) return relation;
  }
  return {};
}

}  // namespace rooflab
