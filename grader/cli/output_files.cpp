#include "grader/cli/output_files.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>

#include "grader/pipeline/grade.h"

namespace rooflab {
namespace {

/// The first few hundred bytes; empty where there is no regular file, which is then nobody's work.
std::string beginning_of(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  std::array<char, 256> bytes{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(stream.gcount())};
}

/// @param marks one of which stands at the beginning of every such output
void require_own(const char* option, const std::string& file,
                 std::initializer_list<std::string_view> marks) {
  const std::string beginning = beginning_of(file);
  if (beginning.empty()) return;
  for (const std::string_view mark : marks) {
    if (beginning.find(mark) != std::string::npos) return;
  }
  throw UsageError(fmt::format(
      "{} {} would replace a file that the grader did not write; name another one", option, file));
}

}  // namespace

std::filesystem::path default_html_file(int part, const std::string& task, int case_number,
                                        const std::filesystem::path& submission) {
  const std::filesystem::path file =
      fmt::format("out/part{}{}{}{}.html", part, task.empty() ? "" : "-", task,
                  case_number > 0 ? fmt::format("-case{}", case_number) : std::string());
  std::error_code error;
  const auto whole = std::filesystem::weakly_canonical(submission, error);
  if (error) return file;
  const auto here = std::filesystem::weakly_canonical(std::filesystem::current_path(error), error);
  if (error) return file;
  const auto inside = here.lexically_relative(whole);
  if (inside.empty() || *inside.begin() == "..") return file;
  return whole.parent_path() / file;
}

void refuse_foreign_outputs(const Options& options) {
  if (!options.html.empty()) require_own("--html", options.html, {"<!doctype html>"});
  if (!options.explore.empty()) require_own("--explore", options.explore, {"<!doctype html>"});
  const bool json_is_file = !options.json.empty() && options.json != "-";
  if (json_is_file) require_own("--json", options.json, {"{\n  \"schema\":"});
  if (!options.sarif.empty()) require_own("--sarif", options.sarif, {"/sarif-schema-2.1.0.json\""});
  if (!options.trace.empty()) {
    require_own("--trace", options.trace, {"\"schemaVersion\":", "\"traceEvents\":"});
  }
}

}  // namespace rooflab
