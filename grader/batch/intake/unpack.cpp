#include "grader/batch/intake/unpack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr double kLongest_s = 30;
constexpr std::size_t kLongestReason = 400;
enum ExitCode { kUnpacked = 0, kRefused = 1 };  // of rooflab-unpack

std::string reason_of(const SandboxOutcome& outcome) {
  if (outcome.limit == LimitHit::time) {
    return fmt::format("unpacking it took longer than {} s; pack only what was asked for",
                       kLongest_s);
  }
  if (outcome.limit != LimitHit::none || outcome.signal == SIGKILL || outcome.signal == SIGXCPU) {
    return fmt::format("unpacking it took too much {}; pack only what was asked for",
                       outcome.limit == LimitHit::none ? "time" : name_of(outcome.limit));
  }
  if (outcome.signal != 0) {
    return fmt::format(
        "the program that unpacks was ended by signal {}; pack it again with another program",
        outcome.signal);
  }
  if (outcome.exit_code == kUnpacked) return "";
  std::string output = outcome.output;
  if (output.ends_with('\n')) output.pop_back();
  std::string said = shorten(one_line(output), kLongestReason);
  if (outcome.exit_code == kRefused && !said.empty()) return said;
  return fmt::format("it could not be unpacked ({}); pack it again with another program",
                     said.empty() ? fmt::format("exit code {}", outcome.exit_code) : said);
}

}  // namespace

SandboxOutcome run_unpacker(const Descriptor& input, const std::vector<std::string>& arguments,
                            const std::filesystem::path& writable, const IntakeOptions& options) {
  if (::access(options.unpacker.c_str(), X_OK) != 0) {
    throw FileError(
        fmt::format("{} is missing or no program; build it", options.unpacker.string()));
  }
  SandboxRequest request;
  request.argv = {options.unpacker.string()};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.read_only = {options.unpacker};
  if (!writable.empty()) request.writable = {{writable, {}}};
  request.descriptors = {{input.get(), STDIN_FILENO}};
  request.enabled = options.sandbox;
  Limits& limits = request.limits;
  limits.wall_s = kLongest_s;
  limits.cpu_s = kLongest_s;
  limits.memory_bytes = 1ULL << 30;
  limits.address_space_bytes = 2ULL << 30;
  limits.output_bytes = 64ULL << 10;
  limits.disk_bytes = 600ULL << 20;  // the archive's own limit, in blocks of a file system
  limits.disk_files = 100'000;
  limits.file_bytes = 64ULL << 20;
  limits.processes = 16;
  limits.open_files = 32;
  return run_sandboxed(request);
}

std::string unpack(const std::filesystem::path& archive, const std::filesystem::path& into,
                   const IntakeOptions& options) {
  const Descriptor descriptor(
      ::open(archive.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!descriptor.valid()) {
    return fmt::format("it cannot be read ({}); check its permissions", std::strerror(errno));
  }
  if (::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return "it is no regular file; put the archive itself there";
  }
  return reason_of(run_unpacker(descriptor, {"-", into.string()}, into, options));
}

}  // namespace rooflab
