#include "simgpu/ptx/source_locations.h"

#include <limits>

#include "simgpu/ptx/constant.h"

namespace simgpu::ptx {
namespace {
constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
}  // namespace

std::string_view DebugStrings::at(std::string_view label, std::int64_t offset) const {
  const auto found = labels_.find(label);
  if (found == labels_.end()) return {};
  const std::size_t begin = found->second + static_cast<std::size_t>(offset);
  if (begin >= bytes_.size()) return {};
  const std::size_t end = bytes_.find('\0', begin);
  return std::string_view(bytes_).substr(
      begin, end == std::string::npos ? std::string::npos : end - begin);
}

SourceLocations::SourceLocations(Function& function) : function_(function) {
  function_.locations.assign(1, SourceLocation{});
}

SourceLocations::Place SourceLocations::parse_place(Lexer& lexer) {
  const auto file = static_cast<std::uint32_t>(parse_count(lexer, "a file number", kLargest));
  const auto line = static_cast<std::uint32_t>(parse_count(lexer, "a line number", kLargest));
  const auto column = static_cast<std::uint32_t>(parse_count(lexer, "a column number", kLargest));
  return {file, line, column};
}

std::uint32_t SourceLocations::add(const Place& place, std::string_view label, std::int64_t offset,
                                   std::int32_t inlined_at) {
  const auto [entry, is_new] =
      known_.try_emplace(Key{place, label, offset, inlined_at},
                         static_cast<std::uint32_t>(function_.locations.size()));
  if (is_new) {
    const auto& [file, line, column] = place;
    function_.locations.push_back(
        {.file = file, .line = line, .column = column, .function = "", .inlined_at = inlined_at});
    if (!label.empty()) pending_.push_back({entry->second, label, offset});
  }
  latest_[place] = entry->second;
  return entry->second;
}

std::uint32_t SourceLocations::parse(Lexer& lexer) {
  const Place place = parse_place(lexer);
  std::string_view label;
  std::int64_t offset = 0;
  std::int32_t inlined_at = -1;
  while (lexer.accept(',')) {
    const Token attribute = lexer.expect_identifier("function_name or inlined_at");
    if (attribute.text == "function_name") {
      label = lexer.peek().is_dot_word("debug_str")
                  ? lexer.next().text
                  : lexer.expect_identifier("a label of .debug_str after function_name").text;
      if (lexer.accept('+')) offset = parse_integer(lexer, "an offset");
    } else if (attribute.text == "inlined_at") {
      // The place of the call is that of an earlier .loc, which may itself be inlined.
      const Place call = parse_place(lexer);
      const auto earlier = latest_.find(call);
      const std::uint32_t index = earlier != latest_.end() ? earlier->second : add(call, {}, 0, -1);
      inlined_at = static_cast<std::int32_t>(index);
    } else {
      lexer.fail_at(attribute, "expected function_name or inlined_at after ',' in .loc");
    }
  }
  return add(place, label, offset, inlined_at);
}

}  // namespace simgpu::ptx
