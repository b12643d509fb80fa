#include "grader/spec/answer_lines.h"

#include <algorithm>

namespace rooflab {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // Windows editors begin files with it

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

AnswerLines::AnswerLines(std::string_view text, std::set<std::string> questions)
    : text_(text), questions_(std::move(questions)) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  std::size_t start = 0;
  while (start < text_.size()) {
    lines_.push_back(start);
    const std::size_t end = text_.find('\n', start);
    start = end == std::string_view::npos ? text_.size() : end + 1;
  }
}

std::string_view AnswerLines::line(std::size_t i) const { return text_to(lines_[i], i); }

bool AnswerLines::is_blank(std::size_t i) const {
  const std::string_view words = line(i);
  return words.empty() || words.front() == '#';
}

std::optional<AnswerLines::Entry> AnswerLines::entry(std::size_t i) const {
  const std::string_view words = line(i);
  if (words.empty()) return std::nullopt;
  std::string_view key;
  std::size_t after = 0;
  if (const char quote = words.front(); quote == '"' || quote == '\'') {
    const std::size_t end = words.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    key = words.substr(1, end - 1);
    after = end + 1;
  } else {
    while (after < words.size() && is_bare(words[after])) ++after;
    key = words.substr(0, after);
  }
  after = words.find_first_not_of(kBlanks, after);
  if (key.empty() || after == std::string_view::npos || words[after] != '=') return std::nullopt;
  const std::size_t value = words.find_first_not_of(kBlanks, after + 1);
  const auto line_start = static_cast<std::size_t>(words.data() - text_.data());
  return Entry{std::string(key),
               line_start + (value == std::string_view::npos ? words.size() : value)};
}

std::size_t AnswerLines::next_question(std::size_t i) const {
  for (++i; i < count(); ++i) {
    const auto found = entry(i);
    if (found && questions_.contains(found->key)) return i;
  }
  return count();
}

std::size_t AnswerLines::line_at(std::size_t place) const {
  const auto after = std::ranges::upper_bound(lines_, place);
  return static_cast<std::size_t>(after - lines_.begin()) - 1;
}

std::string_view AnswerLines::text_to(std::size_t place, std::size_t last) const {
  const std::size_t end = last + 1 < lines_.size() ? lines_[last + 1] : text_.size();
  return trimmed(text_.substr(std::min(place, end), end - std::min(place, end)));
}

}  // namespace rooflab
