#include "grader/reactions/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostPoints = 56;

/// Of a number.
double as_double(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

/// Points of one case, each of them once.
class Points {
 public:
  explicit Points(const Values& parameters) : points_{{parameters, false}} {}

  void add(std::vector<Values> more, bool proves) {
    for (Values& parameters : more) {
      const bool is_known = std::ranges::any_of(
          points_, [&](const TermPoint& point) { return point.parameters == parameters; });
      if (!is_known && points_.size() < kMostPoints) {
        points_.push_back({std::move(parameters), proves});
      }
    }
  }

  /// With the first one again at the end: a function whose numbers differ by themselves has no law.
  std::vector<TermPoint> take() {
    if (points_.size() == 1) return {};
    points_.push_back({points_.front().parameters, true});
    return std::move(points_);
  }

 private:
  std::vector<TermPoint> points_;
};

/// Allowed parameters in which one whole number is a multiple of another that is not 1.
std::vector<Values> multiples(const ParameterDomain& domain, const Values& parameters,
                              std::size_t most, std::uint64_t seed) {
  constexpr std::size_t kTried = 12;
  std::vector<Values> found;
  const auto units = domain.changeable(parameters);
  for (const auto& unit : units) {
    for (const auto& by : units) {
      if (unit == by) continue;
      const auto* number = std::get_if<std::int64_t>(&parameters.at(unit.front()));
      const auto* divisor = std::get_if<std::int64_t>(&parameters.at(by.front()));
      if (number == nullptr || divisor == nullptr || *divisor < 2 || *number <= *divisor) continue;
      for (Values& other : domain.with_other(parameters, unit, kTried, seed)) {
        if (found.size() == most) return found;
        if (std::get<std::int64_t>(other.at(unit.front())) % *divisor != 0) continue;
        found.push_back(std::move(other));
        break;
      }
    }
  }
  return found;
}

/// "length = 7": the parameters that differ from those of the case.
std::string differing(const Values& parameters, const Values& base) {
  Values other;
  for (const auto& [name, value] : parameters) {
    if (!base.contains(name) || base.at(name) != value) other[name] = value;
  }
  return text_of(other);
}

/// "with m = 9: bytes expected 12, got 10", of the results that are wrong there.
std::string evidence_of(const TermSample& sample, const Values& base) {
  std::string text;
  for (const auto& [name, expected] : sample.expected) {
    const auto got = sample.got.find(name);
    if (got == sample.got.end() || got->second == expected) continue;
    const bool is_text = std::holds_alternative<std::string>(got->second) ||
                         std::holds_alternative<std::string>(expected);
    if (is_text) continue;  // laws are about numbers
    text += fmt::format("{}{}: expected {}, got {}", text.empty() ? "" : "; ", name,
                        text_of(expected), text_of(got->second));
  }
  return text.empty() ? text : fmt::format("with {}: {}", differing(sample.parameters, base), text);
}

/// "heads = 4": whole numbers above 1 that are the same in all samples. A number in a law may stand
/// for them.
std::string unchanged(const std::vector<TermSample>& samples) {
  Values same;
  for (const auto& [name, value] : samples.front().parameters) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole == nullptr || *whole < 2) continue;
    const bool stays = std::ranges::all_of(
        samples, [&](const TermSample& sample) { return sample.parameters.at(name) == value; });
    if (stays) same[name] = value;
  }
  return same.empty() ? "" : ", with " + text_of(same) + " in all of them";
}

/// The sample that differs in the fewest parameters among those that are wrong, too.
std::string another_point(const std::vector<TermSample>& samples) {
  const Values& base = samples.front().parameters;
  std::string best;
  std::size_t fewest = 0;
  for (const TermSample& sample : samples) {
    const auto differs =
        static_cast<std::size_t>(std::ranges::count_if(sample.parameters, [&](const auto& entry) {
          return base.at(entry.first) != entry.second;
        }));
    if (differs == 0 || (fewest != 0 && differs >= fewest)) continue;
    std::string text = evidence_of(sample, base);
    if (text.empty()) continue;
    best = std::move(text);
    fewest = differs;
  }
  return best;
}

}  // namespace

std::vector<TermPoint> points_around(const Values& parameters, const std::vector<Values>& cases,
                                     std::uint64_t seed) {
  constexpr std::size_t kTogether = 10, kProofs = 10, kMultiples = 8, kKin = 6;
  const std::uint64_t other_seed = seed ^ 0x9e3779b97f4a7c15U;
  const ParameterDomain domain(cases);
  Points points(parameters);
  std::vector<Values> kin = domain.of_kind(parameters);
  if (kin.size() > kKin) kin.resize(kKin);
  points.add(std::move(kin), false);
  points.add(domain.elsewhere(parameters, kTogether, seed), false);
  const auto proofs = domain.elsewhere(parameters, kProofs, other_seed);
  points.add(proofs, true);
  for (const auto& unit : domain.changeable(parameters)) {
    points.add(domain.with_other(parameters, unit, 2, seed), false);
    points.add(domain.with_other(parameters, unit, 1, other_seed), true);
  }
  points.add(multiples(domain, parameters, kMultiples, seed), false);
  if (!proofs.empty()) points.add(multiples(domain, proofs.front(), kMultiples, seed), true);
  return points.take();
}

RightResults within_reason(RightResults right, const std::vector<Values>& cases) {
  // An oracle may count up to any number, and divide by it.
  constexpr double kTimes = 4, kAlways = 10'000;
  struct Range {
    double least = 1, most = kAlways;
  };
  std::map<std::string, Range> ranges;
  for (const Values& one : cases) {
    for (const auto& [name, value] : one) {
      if (std::holds_alternative<std::string>(value)) continue;
      Range& range = ranges[name];
      range.least = std::min(range.least, as_double(value));
      range.most = std::max(range.most, kTimes * as_double(value));
    }
  }
  return [right = std::move(right),
          ranges = std::move(ranges)](const Values& parameters) -> std::optional<Values> {
    for (const auto& [name, value] : parameters) {
      const auto range = ranges.find(name);
      if (range == ranges.end() || std::holds_alternative<std::string>(value)) continue;
      const double number = as_double(value);
      const bool is_fraction = std::holds_alternative<double>(value) && number > 0;
      if (number < range->second.least && !is_fraction) return std::nullopt;
      if (number > range->second.most) return std::nullopt;
    }
    return right(parameters);
  };
}

Diagnostic explain_law(const Law& law, const Diagnostic& story,
                       const std::vector<TermSample>& samples, const DiagnoseContext& context) {
  Diagnostic told = begin_story(law.code, context);
  told.message = law.message;
  told.help = law.advice;
  told.evidence = story.evidence;
  if (std::string other = another_point(samples); !other.empty()) {
    told.evidence.push_back(std::move(other));
  }
  told.notes = story.notes;
  told.notes.push_back(
      fmt::format("so it is in all {} calls that were made with different parameters{}",
                  samples.size(), unchanged(samples)));
  return told;
}

}  // namespace rooflab
