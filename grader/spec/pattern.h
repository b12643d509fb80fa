#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// A regular expression (ECMAScript). Here, so that files which search are not compiled with
/// <regex>, which takes longer than most of them.
///
/// A search takes stack for each character that it goes over: texts of a student's are cut to a
/// bound before.
class Pattern {
 public:
  struct Match {
    std::size_t begin = 0;            ///< of the match in the text, in bytes
    std::size_t end = 0;              ///< behind it
    std::vector<std::string> groups;  ///< the whole match and what is in parentheses, else empty
  };

  /// @throws std::invalid_argument for what is no regular expression
  explicit Pattern(const std::string& expression);

  /// Whether all of the text is a match.
  bool fits(std::string_view text) const { return whole(text).has_value(); }
  std::optional<Match> whole(std::string_view text) const;

  bool occurs_in(std::string_view text) const { return first(text).has_value(); }
  std::optional<Match> first(std::string_view text) const;

  /// From left to right, none within another.
  std::vector<Match> all(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// Names become symbols, words of a command line and parts of file names, so they are kept plain:
/// lower-case letters, digits and _, a letter first.
bool is_identifier(std::string_view name);

}  // namespace rooflab
