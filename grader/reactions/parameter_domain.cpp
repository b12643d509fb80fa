#include "grader/reactions/parameter_domain.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <variant>

namespace rooflab {
namespace {

/// Proportions of numbers.
constexpr double kSame = 1e-12;

bool is_number(const Value& value) { return !std::holds_alternative<std::string>(value); }
bool is_whole(const Value& value) { return std::holds_alternative<std::int64_t>(value); }

double number(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

bool is_close(double a, double b) {
  return std::abs(a - b) <= kSame * std::max(std::abs(a), std::abs(b));
}

/// Same names, types, texts and zeros.
bool is_same_kind(const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    if (one.first != other.first || one.second.index() != other.second.index()) return false;
    if (!is_number(one.second)) return one.second == other.second;
    return (number(one.second) == 0) == (number(other.second) == 0);
  });
}

/// The number of that name, where there is one and it is not zero.
std::optional<Value> number_at(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end() || !is_number(found->second)) return std::nullopt;
  if (number(found->second) == 0) return std::nullopt;
  return found->second;
}

/// Three digits are enough to tell a number from others, and read well.
double with_three_digits(double value) {
  constexpr double kDigits = 2;  // behind the first
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - kDigits);
  return std::round(value / unit) * unit;
}

/// Anywhere between two numbers, on a logarithmic scale where both are positive.
double draw_between(double least, double most, std::mt19937_64& random) {
  if (least <= 0) return std::uniform_real_distribution<>(least, most)(random);
  return std::exp(std::uniform_real_distribution<>(std::log(least), std::log(most))(random));
}

/// Whole numbers from `least` to `most`, all multiples of `step`: all of them, or many.
std::set<std::int64_t> whole_numbers(std::int64_t least, std::int64_t most, std::int64_t step,
                                     std::mt19937_64& random) {
  constexpr std::int64_t kFew = 200;
  const std::int64_t first = (least + step - 1) / step, last = most / step;
  std::set<std::int64_t> numbers;
  if (last < first) return numbers;
  if (last - first < kFew) {
    for (std::int64_t n = first; n <= last; ++n) numbers.insert(n * step);
    return numbers;
  }
  numbers.insert({first * step, last * step});
  for (int i = 0; i < kFew; ++i) {
    const double drawn =
        draw_between(static_cast<double>(first), static_cast<double>(last), random);
    numbers.insert(std::clamp(std::llround(drawn), static_cast<long long>(first),
                              static_cast<long long>(last)) *
                   step);
  }
  return numbers;
}

/// Those between `least` and `most` that divide a number.
std::set<std::int64_t> divisors(std::int64_t of, std::int64_t least, std::int64_t most) {
  constexpr std::int64_t kMostTried = 10'000;
  std::set<std::int64_t> found;
  for (std::int64_t d = 1; d <= kMostTried && d <= of / d; ++d) {
    if (of % d != 0) continue;
    for (const std::int64_t divisor : {d, of / d}) {
      if (divisor >= least && divisor <= most) found.insert(divisor);
    }
  }
  return found;
}

}  // namespace

/// What holds for one kind.
struct ParameterDomain::Rules {
  struct Range {
    double least = 0, most = 0;
    std::int64_t step = 1;  ///< of whole numbers
    bool is_fixed() const { return least == most; }
  };
  struct Pair {
    std::string first, second;
  };
  struct Proportion {
    std::string name, leader;
    double times = 1;  ///< the leader
  };

  std::map<std::string, Range> ranges;  ///< of the kind's numbers, without zeros
  std::vector<Pair> not_less;           ///< first >= second
  std::vector<Pair> multiples;          ///< first is a multiple of second
  std::vector<Proportion> linked;

  bool is_linked(const std::string& name) const {
    return std::ranges::find(linked, name, &Proportion::name) != linked.end();
  }

  /// Takes over what holds of `name` in all cases.
  void add_range(const std::string& name, const std::vector<Values>& cases) {
    Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                0};
    for (const Values& one : cases) {
      const auto value = number_at(one, name);
      if (!value) continue;
      range.least = std::min(range.least, number(*value));
      range.most = std::max(range.most, number(*value));
      if (is_whole(*value)) range.step = std::gcd(range.step, std::get<std::int64_t>(*value));
    }
    range.step = std::max<std::int64_t>(range.step, 1);
    ranges[name] = range;
  }

  /// Takes over what holds of two names wherever both occur.
  void add_relation(const std::string& first, const std::string& second,
                    const std::vector<Values>& cases) {
    bool never_less = true, always_multiple = true, in_proportion = true;
    std::set<double> seen;
    double times = 0;
    for (const Values& one : cases) {
      const auto a = number_at(one, first), b = number_at(one, second);
      if (!a || !b) continue;
      never_less = never_less && number(*a) >= number(*b);
      always_multiple = always_multiple && is_whole(*a) && is_whole(*b) &&
                        std::get<std::int64_t>(*a) % std::get<std::int64_t>(*b) == 0;
      const double ratio = number(*a) / number(*b);
      in_proportion = in_proportion && (seen.empty() || is_close(ratio, times));
      times = ratio;
      seen.insert(number(*b));
    }
    if (in_proportion && seen.size() > 1) {
      if (first > second && !is_linked(first) && !is_linked(second)) {
        linked.push_back({first, second, times});
      }
      return;
    }
    if (never_less) not_less.push_back({first, second});
    if (always_multiple) multiples.push_back({first, second});
  }

  bool keep(const Values& values) const {
    const auto value = [&](const std::string& name) { return number(values.at(name)); };
    const auto whole = [&](const std::string& name) {
      return std::get<std::int64_t>(values.at(name));
    };
    return std::ranges::all_of(ranges,
                               [&](const auto& entry) {
                                 const auto& [name, range] = entry;
                                 const double here = value(name);
                                 if (here < range.least || here > range.most) return false;
                                 return !is_whole(values.at(name)) || whole(name) % range.step == 0;
                               }) &&
           std::ranges::all_of(
               not_less,
               [&](const Pair& pair) { return value(pair.first) >= value(pair.second); }) &&
           std::ranges::all_of(
               multiples,
               [&](const Pair& pair) { return whole(pair.first) % whole(pair.second) == 0; }) &&
           std::ranges::all_of(linked, [&](const Proportion& link) {
             return is_close(value(link.name), link.times * value(link.leader));
           });
  }

  /// The whole numbers that `name` might be while others stay.
  std::set<std::int64_t> whole_candidates(const std::string& name, const Values& values,
                                          std::mt19937_64& random) const {
    const Range& range = ranges.at(name);
    const auto least = static_cast<std::int64_t>(range.least);
    const auto most = static_cast<std::int64_t>(range.most);
    std::int64_t step = range.step, multiple = 0;
    for (const Pair& pair : multiples) {
      const bool leads = pair.first == name;
      if (!leads && pair.second != name) continue;
      const auto other = std::get<std::int64_t>(values.at(leads ? pair.second : pair.first));
      if (leads && other <= most && step <= most) step = std::lcm(step, other);
      if (!leads) multiple = std::gcd(multiple, other);
    }
    return multiple != 0 ? divisors(multiple, least, most)
                         : whole_numbers(least, most, step, random);
  }

  std::vector<Value> candidates(const std::string& name, const Values& values,
                                std::mt19937_64& random) const {
    std::vector<Value> found;
    if (is_whole(values.at(name))) {
      for (const std::int64_t one : whole_candidates(name, values, random)) found.emplace_back(one);
      return found;
    }
    constexpr int kDraws = 40;
    const Range& range = ranges.at(name);
    for (int i = 0; i < kDraws; ++i) {
      found.emplace_back(with_three_digits(draw_between(range.least, range.most, random)));
    }
    return found;
  }

  /// The values with another number for the first of a unit, and what is in proportion to it.
  std::optional<Values> with(const Values& values, const Unit& unit, const Value& leader) const {
    Values changed = values;
    changed[unit.front()] = leader;
    for (const Proportion& link : linked) {
      if (link.leader != unit.front()) continue;
      const double follows = link.times * number(leader);
      Value& value = changed.at(link.name);
      if (is_whole(value)) {
        if (!is_close(follows, std::round(follows))) return std::nullopt;
        value = static_cast<std::int64_t>(std::llround(follows));
      } else {
        value = follows;
      }
    }
    return changed;
  }
};

ParameterDomain::ParameterDomain(std::vector<Values> cases) : cases_(std::move(cases)) {}

/// @return no ranges for parameters of no kind
ParameterDomain::Rules ParameterDomain::rules_for(const Values& parameters) const {
  Rules rules;
  const bool is_known =
      std::ranges::any_of(cases_, [&](const Values& one) { return is_same_kind(one, parameters); });
  if (!is_known) return rules;
  for (const auto& [name, value] : parameters) {
    if (number_at(parameters, name)) rules.add_range(name, cases_);
  }
  for (const auto& [first, range] : rules.ranges) {
    for (const auto& [second, other] : rules.ranges) {
      const bool may_break = first != second && !(range.is_fixed() && other.is_fixed());
      if (may_break) rules.add_relation(first, second, cases_);
    }
  }
  return rules;
}

bool ParameterDomain::allows(const Values& parameters) const {
  const bool is_known =
      std::ranges::any_of(cases_, [&](const Values& one) { return is_same_kind(one, parameters); });
  return is_known && rules_for(parameters).keep(parameters);
}

std::vector<Values> ParameterDomain::of_kind(const Values& parameters) const {
  std::vector<Values> found;
  std::ranges::copy_if(cases_, std::back_inserter(found),
                       [&](const Values& one) { return is_same_kind(one, parameters); });
  return found;
}

std::vector<ParameterDomain::Unit> ParameterDomain::changeable(const Values& parameters) const {
  const Rules rules = rules_for(parameters);
  std::vector<Unit> units;
  for (const auto& [name, range] : rules.ranges) {
    if (range.is_fixed() || rules.is_linked(name)) continue;
    Unit unit{name};
    for (const auto& link : rules.linked) {
      if (link.leader == name) unit.push_back(link.name);
    }
    units.push_back(std::move(unit));
  }
  return units;
}

/// All that are found, in the order of the unit's number.
std::vector<Values> ParameterDomain::others(const Rules& rules, const Values& parameters,
                                            const Unit& unit, std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  std::vector<Values> allowed;
  for (const Value& leader : rules.candidates(unit.front(), parameters, random)) {
    if (leader == parameters.at(unit.front())) continue;
    auto changed = rules.with(parameters, unit, leader);
    if (changed && rules.keep(*changed)) allowed.push_back(*std::move(changed));
  }
  return allowed;
}

std::vector<Values> ParameterDomain::with_other(const Values& parameters, const Unit& unit,
                                                std::size_t most, std::uint64_t seed) const {
  std::vector<Values> allowed = others(rules_for(parameters), parameters, unit, seed);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(allowed, random);
  if (allowed.size() > most) allowed.resize(most);
  return allowed;
}

std::vector<Values> ParameterDomain::elsewhere(const Values& parameters, std::size_t most,
                                               std::uint64_t seed) const {
  const Rules rules = rules_for(parameters);
  std::vector<Unit> units = changeable(parameters);
  std::mt19937_64 random(seed);
  std::vector<Values> found;
  Values here = parameters;
  for (std::size_t i = 0; i < most && !units.empty(); ++i) {
    std::ranges::shuffle(units, random);
    for (const Unit& unit : units) {
      const std::vector<Values> allowed = others(rules, here, unit, random());
      if (!allowed.empty()) here = allowed[random() % allowed.size()];
    }
    const bool is_new = here != parameters && std::ranges::find(found, here) == found.end();
    if (is_new) found.push_back(here);
  }
  return found;
}

std::vector<Values> ParameterDomain::smaller(const Values& parameters) const {
  const Rules rules = rules_for(parameters);
  std::vector<Values> found;
  for (const Unit& unit : changeable(parameters)) {
    const std::string& name = unit.front();
    if (!is_whole(parameters.at(name))) continue;
    std::vector<Values> lower = others(rules, parameters, unit, 0);
    const double now = number(parameters.at(name));
    std::erase_if(lower, [&](const Values& one) { return number(one.at(name)) > now; });
    if (lower.empty()) continue;
    const auto add = [&](const Values& one) {
      if (std::ranges::find(found, one) == found.end()) found.push_back(one);
    };
    const auto nearest = [&](double wanted) {
      return *std::ranges::min_element(
          lower, {}, [&](const Values& one) { return std::abs(number(one.at(name)) - wanted); });
    };
    add(lower.front());
    add(nearest(now / 2));
    add(nearest(now * 3 / 4));
    add(lower.back());
  }
  return found;
}

Values ParameterDomain::smallest(const Values& parameters) const {
  const Rules rules = rules_for(parameters);
  Values here = parameters;
  // What a number may be depends on the others: a second round finds what the first one made room
  // for.
  for (int round = 0; round < 2; ++round) {
    for (const Unit& unit : changeable(parameters)) {
      const std::string& name = unit.front();
      if (!is_whole(here.at(name))) continue;
      const std::vector<Values> allowed = others(rules, here, unit, 0);
      if (!allowed.empty() && number(allowed.front().at(name)) < number(here.at(name))) {
        here = allowed.front();
      }
    }
  }
  return here;
}

}  // namespace rooflab
