#include "grader/mutation/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

#include "grader/mutation/words.h"

namespace rooflab::mutation {
namespace {

constexpr std::array<std::string_view, 4> kOrders{"<", "<=", ">", ">="};
constexpr std::array<std::string_view, 12> kBetweenCompared{
    "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "?", "=", ","};

template <class T>
void add_new(std::vector<T>& all, T one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

}  // namespace

std::string BoundMutator::Bound::holds() const {
  return is_lower ? index + " >= 0" : fmt::format("{} < {}", index, extent);
}

std::string BoundMutator::Bound::fails() const {
  return is_lower ? index + " < 0" : fmt::format("{} >= {}", index, extent);
}

void BoundMutator::note_extents(std::size_t first, std::size_t last) {
  constexpr std::size_t kMost = 24, kLongestValue = 64;
  compared_.clear();
  differences_.clear();
  const std::vector<std::string> parameters = scopes_.numbers(true);
  unused_ = {parameters.begin(), parameters.end()};
  std::vector<std::string> limits, factors;
  for (std::size_t i = first; i + 1 < last; ++i) {
    const CodeToken& token = code_.at(i);
    unused_.erase(token.text);
    const bool is_declared = token.is_word() && code_.is(i + 1, "=");
    const std::size_t end = std::min(last, i + kLongestValue);
    for (std::size_t k = i + 2; is_declared && k < end && !code_.is(k, ";"); ++k) {
      if (code_.is(k, "-")) differences_.insert(token.text);
    }
    const bool is_limit = token.is_one_of(kOrders);
    const bool is_factor = token.is_factor_sign() || token.is("%");
    if (!(is_limit || is_factor) || !code_.at(i + 1).is_word()) continue;
    std::size_t behind = i + 2;
    while ((code_.is(behind, ".") || code_.is(behind, "->")) && code_.at(behind + 1).is_word()) {
      behind += 2;
    }
    constexpr std::array<std::string_view, 5> kNoNumber{"(", "[", "<", "::", "{"};
    if (is_axis_object(code_.at(i + 1).text) || code_.at(behind).is_one_of(kNoNumber)) continue;
    std::vector<std::string>& known = is_limit ? limits : factors;
    if (known.size() < kMost) add_new(known, code_.spelling(i + 1, behind));
  }
  limits_ = {limits.begin(), limits.end()};
  extents_.clear();
  std::vector<std::string> constants;
  const auto add_all = [&](const std::vector<std::string>& some) {
    for (const std::string& extent : some) {
      add_new(is_constant(extent) ? constants : extents_, extent);
    }
  };
  add_all(limits);
  add_all(parameters);
  add_all(factors);
  extents_.insert(extents_.end(), constants.begin(), constants.end());
}

void BoundMutator::note_condition(std::size_t first, std::size_t last) {
  std::size_t begin = first;
  for (std::size_t i = first; i <= last; ++i) {
    if (i < last && !code_.at(i).is_one_of(kBetweenCompared)) continue;
    std::size_t from = begin, to = i;
    while (from < to && code_.is(from, "(") && code_.partner(from) >= to) ++from;
    while (from < to && code_.is(to - 1, ")") && code_.partner(to - 1) < from) --to;
    if (from < to) compared_.push_back(code_.spelling(from, to));
    begin = i + 1;
  }
}

/// A whole number that has a name, or a thread's place.
bool BoundMutator::is_index(std::size_t token) const {
  const std::string& name = code_.at(token).text;
  if (!code_.at(token).is_word() || code_.is(token - 1, ".") || code_.is(token - 1, "->")) {
    return false;
  }
  if (is_axis_object(name)) return name == "threadIdx" || name == "blockIdx";
  const Variable* const variable = scopes_.find(name);
  return variable != nullptr && is_whole_number(variable->type) && !code_.is(token + 1, "(") &&
         !code_.is(token + 1, "[");
}

/// Whether it can be computed again without a call.
bool BoundMutator::is_plain(std::size_t first, std::size_t last) const {
  constexpr std::array<std::string_view, 8> kSigns{"+", "-", "*", "/", "%", "(", ")", "."};
  for (std::size_t i = first; i < last; ++i) {
    const CodeToken& token = code_.at(i);
    const bool is_letter = i > first && code_.is(i - 1, ".");
    const bool is_known =
        token.is_word() && !code_.is(i + 1, "(") &&
        (is_letter || is_index(i) || is_axis_object(token.text) || is_constant(token.text));
    if (!is_known && !token.is_whole() && !token.is_one_of(kSigns)) return false;
  }
  return first < last;
}

BoundMutator::Index BoundMutator::index_at(std::size_t first, std::size_t last) const {
  std::string spelling = code_.spelling(first, last);
  const bool is_compared = std::ranges::find(compared_, spelling) != compared_.end();
  return {std::move(spelling), is_compared};
}

/// What may need a bound in a subscript, the likeliest first: what stands in parentheses, what
/// follows the first product, its names, and all of it.
void BoundMutator::indices_of(std::size_t first, std::size_t last,
                              std::vector<Index>& found) const {
  std::vector<Index> names;
  const auto add_sum = [&](std::size_t from, std::size_t to) {
    bool is_sum = false;
    for (std::size_t i = from + 1; i < to; ++i) is_sum = is_sum || code_.at(i).is_sum_sign();
    if (is_sum && is_plain(from, to)) add_new(found, index_at(from, to));
  };
  bool has_product = false;
  std::size_t tail = last;
  for (std::size_t i = first; i < last; ++i) {
    const CodeToken& token = code_.at(i);
    if (is_index(i) && !limits_.contains(token.text)) {
      add_new(names, index_at(i, is_axis_object(token.text) ? i + 3 : i + 1));
    }
    if (token.is("(") && code_.partner(i) < last) add_sum(i + 1, code_.partner(i));
    has_product = has_product || token.is("*");
    if (token.is("+") && has_product && tail == last) tail = i + 1;
  }
  if (tail < last) add_sum(tail, last);
  for (Index& name : names) add_new(found, std::move(name));
  add_sum(first, last);
}

/// Of all subscripts there; arrays of a block or a thread are as large as they are written.
std::vector<BoundMutator::Index> BoundMutator::indices(std::size_t first, std::size_t last) const {
  std::vector<Index> found;
  for (std::size_t i = first + 1; i < last; ++i) {
    const CodeToken& array = code_.at(i - 1);
    if (!code_.is(i, "[") || !(array.is_word() || array.is(")"))) continue;
    const Variable* const variable = scopes_.find(array.text);
    const bool is_array = variable != nullptr && (variable->type.find('[') != std::string::npos ||
                                                  variable->type.starts_with("shared"));
    const std::size_t close = code_.partner(i);
    if (!is_array && close < last) indices_of(i + 1, close, found);
  }
  return found;
}

std::vector<std::string> BoundMutator::extents_at_hand() const {
  std::vector<std::string> at_hand;
  for (const std::string& extent : extents_) {
    const std::string name = extent.substr(0, extent.find_first_of(".-"));
    const Variable* const variable = scopes_.find(name);
    const bool is_number = variable == nullptr ? is_constant(extent)
                                               : name != extent || is_whole_number(variable->type);
    if (is_number) at_hand.push_back(extent);
  }
  return at_hand;
}

bool BoundMutator::may_be_negative(const std::string& index) const {
  return index.find('-') != std::string::npos || differences_.contains(index);
}

std::vector<BoundMutator::Bound> BoundMutator::bounds_of(const std::vector<Index>& indices) const {
  const std::vector<std::string> extents = extents_at_hand();
  std::vector<Bound> bounds;
  std::vector<Index> likely;
  std::size_t open = 0;
  constexpr std::size_t kMostIndices = 5;
  for (const Index& index : indices) {
    if (!index.is_compared && open++ == kMostIndices) break;
    likely.push_back(index);
  }
  for (const Index& index : likely) {
    const bool may = !index.is_compared && may_be_negative(index.spelling);
    if (may) bounds.push_back({index.spelling, "0", true});
  }
  // The first extents are the likeliest, of each index.
  for (const std::string& extent : extents) {
    for (const auto& [index, is_compared] : likely) {
      const bool may = !is_compared || unused_.contains(extent);
      if (may && index != extent && bounds.size() < MutantList::kMostOfAPlace) {
        bounds.push_back({index, extent, false});
      }
    }
  }
  return bounds;
}

std::string BoundMutator::add(const std::vector<Bound>& bounds, std::size_t place,
                              const std::string& before, const std::string& words,
                              bool says_what_fails) {
  const int number = mutants_.begin_place();
  std::string pairs;
  for (const Bound& bound : bounds) {
    mutants_.add(MutantKind::bound, place, before,
                 fmt::format(fmt::runtime(words), says_what_fails ? bound.fails() : bound.holds()));
    pairs += bound.is_lower ? fmt::format(", rooflab_variants::below({}), 0", bound.index)
                            : fmt::format(", {}, {}", bound.index, bound.extent);
  }
  return fmt::format("rooflab_variants::within({}{})", number, pairs);
}

std::string BoundMutator::before_statement(std::size_t first, std::size_t end) {
  const std::vector<Bound> bounds = bounds_of(indices(first, end));
  if (bounds.empty()) return {};
  return " && " + add(bounds, first, code_.spelling(first, end), "`if ({})` before it");
}

void BoundMutator::around_value(std::size_t first, std::size_t last) {
  if (code_.is(first, "&")) return;  // a place
  for (std::size_t i = first; i < last; ++i) {
    if (code_.is(i, "{")) return;  // no value, or a function of its own
  }
  const std::vector<Bound> bounds = bounds_of(indices(first, last));
  if (bounds.empty()) return;
  const std::string within =
      add(bounds, first, code_.spelling(first, last), "0 in its place unless `{}`");
  edits_.wrap(first, last - 1, fmt::format("({} ? rooflab_variants::same(", within),
              ") : rooflab_variants::Nothing())");
}

void BoundMutator::in_condition(std::size_t first, std::size_t last, std::size_t body,
                                std::size_t end) {
  const std::vector<Bound> bounds = bounds_of(indices(body, end));
  if (bounds.empty()) return;
  edits_.wrap(
      first, last - 1, "(",
      ") && " + add(bounds, first, code_.spelling(first, last), "`&& {}` in the condition"));
}

void BoundMutator::behind_declaration(std::size_t name, std::size_t end) {
  const std::vector<Bound> bounds = bounds_of({{code_.at(name).text}});
  if (bounds.empty()) return;
  edits_.put_behind(
      end, fmt::format(" if (!{}) return;", add(bounds, name, code_.at(name).text,
                                                "`if ({}) return;` behind its declaration", true)));
}

}  // namespace rooflab::mutation
