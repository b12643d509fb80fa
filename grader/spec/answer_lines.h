#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// A text as lines, and the keys that they begin with: what answers.toml looks like before anybody
/// asks whether it is TOML.
class AnswerLines {
 public:
  /// @param text outlives this
  AnswerLines(std::string_view text, std::set<std::string> questions);

  std::size_t count() const { return lines_.size(); }
  /// Without its end, nor blanks on either side.
  std::string_view line(std::size_t i) const;
  /// Whether nothing but a comment stands there.
  bool is_blank(std::size_t i) const;

  /// A line `key = value`.
  struct Entry {
    std::string key;
    std::size_t value = 0;  ///< where in the text the value begins
  };
  std::optional<Entry> entry(std::size_t i) const;
  /// The first line after `i` that begins with the key of a question; count() for none.
  std::size_t next_question(std::size_t i) const;
  /// The line that a place in the text lies in.
  std::size_t line_at(std::size_t place) const;
  /// From a place in the text up to the end of line `last`, without blanks on either side.
  std::string_view text_to(std::size_t place, std::size_t last) const;
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::set<std::string> questions_;
  std::vector<std::size_t> lines_;  ///< where each begins
};

/// Without blanks and ends of lines on either side.
std::string_view trimmed(std::string_view text);

}  // namespace rooflab
