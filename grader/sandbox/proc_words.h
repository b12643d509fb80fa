#pragma once

#include <algorithm>
#include <string_view>

/// What the readers of /proc/<pid>/maps and smaps share.
namespace rooflab {

/// Behind the name of a file that is there no more.
inline constexpr std::string_view kRemoved = " (deleted)";

/// Takes the next word off `rest`.
inline std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace rooflab
