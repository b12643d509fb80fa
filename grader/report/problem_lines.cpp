#include "grader/report/problem_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "grader/report/text.h"

namespace rooflab {
namespace {

using simgpu::sarif::Place;
using simgpu::sarif::Result;

std::string line_of(const Place& place, const std::filesystem::path& folder, const char* level,
                    const std::string& message, simgpu::Code code) {
  return fmt::format("{}:{}:{}: {}: {} [{}]\n", one_line((folder / place.file).string()),
                     std::max<std::uint32_t>(1, place.line),
                     std::max<std::uint32_t>(1, place.column), level, one_line(message),
                     code.text());
}

}  // namespace

std::string problem_lines(const std::vector<Result>& results, const std::filesystem::path& folder) {
  std::string lines;
  for (const Result& result : results) {
    if (result.places.empty()) continue;
    lines += line_of(result.places.front(), folder, simgpu::sarif::name_of(result.level),
                     result.message, result.code);
    for (const Place& place : std::span(result.places).subspan(1)) {
      if (place.text.empty()) continue;
      lines += line_of(place, folder, "note", place.text, result.code);
    }
  }
  return lines;
}

}  // namespace rooflab
