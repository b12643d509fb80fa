#include "grader/batch/intake/student_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "grader/batch/intake/unpack.h"
#include "grader/posix/descriptor.h"
#include "grader/report/text.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr double kLongestReading_s = 10;
constexpr std::size_t kLongestProblem = 400;
constexpr std::size_t kLongestText = 64U << 10;  // of what is passed on; the reader takes less

Descriptor in_memory(const std::string& text) {
  Descriptor file(memfd_create("student.toml", MFD_CLOEXEC));
  for (std::size_t done = 0; file.valid() && done < text.size();) {
    const ssize_t count = write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) file.reset();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (!file.valid() || lseek(file.get(), 0, SEEK_SET) != 0) {
    throw FileError(std::string("a student.toml cannot be passed on: ") + std::strerror(errno));
  }
  return file;
}

SandboxOutcome run_reader(const std::string& text, const IntakeOptions& options) {
  const Descriptor file = in_memory(text);
  SandboxRequest request;
  request.argv = {options.unpacker.string(), "--student-file", "-"};
  request.read_only = {options.unpacker};
  request.descriptors = {{file.get(), STDIN_FILENO}};
  request.enabled = options.sandbox;
  Limits& limits = request.limits;
  limits.wall_s = kLongestReading_s;
  limits.cpu_s = kLongestReading_s;
  limits.memory_bytes = 256ULL << 20;
  limits.address_space_bytes = 1ULL << 30;
  limits.output_bytes = 16ULL << 10;
  limits.processes = 4;
  limits.open_files = 32;
  return run_sandboxed(request);
}

}  // namespace

StudentFile read_student_file(const std::string& text, const IntakeOptions& options) {
  StudentFile file;
  if (text.size() > kLongestText) {
    file.problem = "it is larger than 16 KiB";
    return file;
  }
  require_unpacker(options);
  const SandboxOutcome outcome = run_reader(text, options);
  std::array<std::string, 3> lines;  // what stands there is the student's word, and so is its form
  std::size_t begin = 0;
  bool complete = outcome.exit_code == 0 && outcome.signal == 0 && outcome.limit == LimitHit::none;
  for (std::string& line : lines) {
    const std::size_t end = outcome.output.find('\n', begin);
    if (end == std::string::npos) complete = false;
    if (!complete) break;
    line = outcome.output.substr(begin, end - begin);
    begin = end + 1;
  }
  if (complete && begin == outcome.output.size()) {
    file.hints.sis_id = lines[0];
    file.hints.name = lines[1];
    file.hints.email = lines[2];
    return file;
  }
  file.problem = shorten(one_line(outcome.output), kLongestProblem);
  if (outcome.exit_code != 1 || outcome.signal != 0 || file.problem.empty()) {
    file.problem = "it cannot be read";
  }
  return file;
}

}  // namespace rooflab
