#include "grader/pipeline/compiler_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

namespace rooflab {
namespace {

constexpr std::size_t kMostNotes = 5;
constexpr std::size_t kLongestText = 300;

/// A number at the beginning, which is taken off; nothing where there is none.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// "file.cu(12): warning #940-D: missing return statement …" of nvcc's front end, or
/// "file.cu:12:5: warning: no return statement …" of the host compiler.
std::optional<CompilerWarning> warning_in(std::string_view line) {
  CompilerWarning warning;
  const std::size_t name = line.find_first_of("(:");
  if (name == std::string_view::npos) return std::nullopt;
  warning.file = line.substr(0, name);
  const bool is_front_end = line[name] == '(';
  line.remove_prefix(name + 1);
  const auto number = take_number(line);
  if (!number) return std::nullopt;
  warning.line = *number;
  if (is_front_end) {
    if (!take(line, "): warning #") || !take_number(line)) return std::nullopt;
    take(line, "-D");
    if (!take(line, ": ")) return std::nullopt;
  } else {
    if (take(line, ":")) take_number(line);
    if (!take(line, ": warning: ")) return std::nullopt;
  }
  warning.text = line.substr(0, kLongestText);
  return warning;
}

}  // namespace

std::vector<CompilerWarning> compiler_warnings(const std::string& messages,
                                               const std::string& part_directory) {
  std::vector<CompilerWarning> warnings;
  std::set<std::pair<std::string, std::uint32_t>> places;
  std::string_view rest = messages;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!take(line, part_directory + "/")) continue;  // of a header of ours, or of generated code
    auto warning = warning_in(line);
    if (!warning || !places.emplace(warning->file, warning->line).second) continue;
    warnings.push_back(*std::move(warning));
  }
  return warnings;
}

std::vector<std::string> warning_notes(const std::vector<CompilerWarning>& warnings) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < std::min(warnings.size(), kMostNotes); ++i) {
    const CompilerWarning& warning = warnings[i];
    notes.push_back(
        fmt::format("{}:{}: the compiler warns: {}", warning.file, warning.line, warning.text));
  }
  if (warnings.size() > kMostNotes) {
    notes.push_back(fmt::format("the compiler has {} more warnings", warnings.size() - kMostNotes));
  }
  return notes;
}

}  // namespace rooflab
