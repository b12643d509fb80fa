#include "grader/spec/pattern.h"

#include <regex>
#include <stdexcept>

namespace rooflab {
namespace {

using Found = std::match_results<std::string_view::const_iterator>;

Pattern::Match match_of(const Found& found) {
  Pattern::Match match;
  match.begin = static_cast<std::size_t>(found.position(0));
  match.end = match.begin + static_cast<std::size_t>(found.length(0));
  for (const auto& group : found) match.groups.push_back(group.str());
  return match;
}

std::regex compiled_from(const std::string& expression) {
  try {
    return std::regex(expression);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace

struct Pattern::Compiled {
  std::regex expression;
};

Pattern::Pattern(const std::string& expression)
    : compiled_(std::make_shared<const Compiled>(compiled_from(expression))) {}

std::optional<Pattern::Match> Pattern::whole(std::string_view text) const {
  Found found;
  if (!std::regex_match(text.begin(), text.end(), found, compiled_->expression)) return {};
  return match_of(found);
}

std::optional<Pattern::Match> Pattern::first(std::string_view text) const {
  Found found;
  if (!std::regex_search(text.begin(), text.end(), found, compiled_->expression)) return {};
  return match_of(found);
}

std::vector<Pattern::Match> Pattern::all(std::string_view text) const {
  using Iterator = std::regex_iterator<std::string_view::const_iterator>;
  std::vector<Match> matches;
  for (Iterator at(text.begin(), text.end(), compiled_->expression), end; at != end; ++at) {
    matches.push_back(match_of(*at));
  }
  return matches;
}

bool is_identifier(std::string_view name) {
  static const Pattern identifier("[a-z][a-z0-9_]*");
  return identifier.fits(name);
}

}  // namespace rooflab
