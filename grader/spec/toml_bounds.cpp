#include "grader/spec/toml_bounds.h"

#include <algorithm>

namespace rooflab {
namespace {

constexpr std::size_t kMostParts = 32;
constexpr std::size_t kMostBrackets = 64;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::size_t> first_line_too_deep() {
    while (at_ < text_.size()) {
      step();
      if (parts_ > kMostParts || brackets_ > kMostBrackets) return line_;
    }
    return std::nullopt;
  }

 private:
  void step() {
    switch (const char c = text_[at_]; c) {
      case '"':
      case '\'':
        skip_string(c);
        return;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '.':
        ++parts_;
        break;
      case '[':
      case '{':
        ++brackets_;
        parts_ = 1;
        break;
      case ']':
      case '}':
        if (brackets_ > 0) --brackets_;
        parts_ = 1;
        break;
      case '=':
      case ',':
        parts_ = 1;
        break;
      case '\n':
        ++line_;
        parts_ = 1;
        break;
      default:
        break;
    }
    ++at_;
  }

  /// Whether `count` quotes stand at `at`.
  bool quotes_at(std::size_t at, char quote, std::size_t count) const {
    return at + count <= text_.size() &&
           std::ranges::all_of(text_.substr(at, count), [quote](char c) { return c == quote; });
  }

  /// A string of one line ends with it, though that is no TOML.
  void skip_string(char quote) {
    const bool is_long = quotes_at(at_, quote, 3);
    const std::size_t quotes = is_long ? 3 : 1;
    at_ += quotes;
    while (at_ < text_.size() && !quotes_at(at_, quote, quotes)) {
      if (text_[at_] == '\n') {
        if (!is_long) return;
        ++line_;
      }
      at_ += quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n'
                 ? 2
                 : 1;
    }
    at_ = std::min(at_ + quotes, text_.size());
    // Of up to five quotes at the end of a long string, the first two belong to it.
    for (int i = 0; is_long && i < 2 && quotes_at(at_, quote, 1); ++i) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t parts_ = 1;  ///< of the key so far
  std::size_t brackets_ = 0;
};

}  // namespace

std::optional<std::size_t> nests_too_deep(std::string_view toml) {
  return Scanner(toml).first_line_too_deep();
}

}  // namespace rooflab
