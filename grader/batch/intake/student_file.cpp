#include "grader/batch/intake/student_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "grader/batch/intake/unpack.h"
#include "grader/posix/file_in_memory.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestProblem = 400;
constexpr std::size_t kLongestText = 64U << 10;  // of what is passed on; the reader takes less

/// id, name and email as the reader prints them, a line each. What it prints is the student's word,
/// and so is its form.
std::optional<StudentHints> hints_in(const std::string& printed) {
  std::array<std::string, 3> lines;
  std::size_t begin = 0;
  for (std::string& line : lines) {
    const std::size_t end = printed.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    line = printed.substr(begin, end - begin);
    begin = end + 1;
  }
  if (begin != printed.size()) return std::nullopt;
  StudentHints hints;
  hints.sis_id = lines[0];
  hints.name = lines[1];
  hints.email = lines[2];
  return hints;
}

}  // namespace

StudentFile read_student_file(const std::string& text, const IntakeOptions& options) {
  StudentFile file;
  if (text.size() > kLongestText) {
    file.problem = "it is larger than 16 KiB";
    return file;
  }
  const Descriptor input = file_in_memory("student.toml", std::as_bytes(std::span(text)));
  if (!input.valid()) {
    throw FileError(fmt::format("a student.toml cannot be passed on: {}", std::strerror(errno)));
  }
  const SandboxOutcome outcome = run_unpacker(input, {"--student-file", "-"}, {}, options);
  const bool ended = outcome.signal == 0 && outcome.limit == LimitHit::none;
  if (ended && outcome.exit_code == 0) {
    if (const auto hints = hints_in(outcome.output)) {
      file.hints = *hints;
      return file;
    }
  }
  if (ended && outcome.exit_code == 1) {
    file.problem = shorten(one_line(outcome.output), kLongestProblem);
  }
  if (file.problem.empty()) file.problem = "it cannot be read";
  return file;
}

}  // namespace rooflab
