// rooflab-sandboxed: runs a program of the toolkit on a file that nobody vouches for.
//
//     rooflab-sandboxed [--no-sandbox] TOOLKIT PROGRAM [ARGUMENTS...]
//
// The program sees the folder TOOLKIT, and may write to the working folder alone. What it prints
// goes to the standard error. Exits as the program does; 126 when it could not be run, 125 when a
// limit ended it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include "grader/sandbox/sandbox.h"

namespace {

constexpr int kCannotRun = 126;
constexpr int kStopped = 125;

}  // namespace

int main(int argc, char** argv) {
  int first = 1;
  rooflab::SandboxRequest request;
  if (argc > first && std::strcmp(argv[first], "--no-sandbox") == 0) {
    request.enabled = false;
    ++first;
  }
  if (argc < first + 2) {
    std::fputs("usage: rooflab-sandboxed [--no-sandbox] TOOLKIT PROGRAM [ARGUMENTS...]\n", stderr);
    return kCannotRun;
  }
  request.read_only = {argv[first]};
  request.argv.assign(argv + first + 1, argv + argc);
  try {
    request.working_directory = std::filesystem::current_path();
    request.writable = {{request.working_directory, {}}};
    // Whoever runs us bounds the processor's time and ours.
    request.limits.wall_s = 180;
    request.limits.output_bytes = 64U << 10;
    const rooflab::SandboxOutcome outcome = rooflab::run_sandboxed(request);
    std::fwrite(outcome.output.data(), 1, outcome.output.size(), stderr);
    if (outcome.limit != rooflab::LimitHit::none) {
      std::fprintf(stderr, "it was stopped: it took too much %s\n", name_of(outcome.limit));
      return kStopped;
    }
    return outcome.signal != 0 ? kStopped : outcome.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kCannotRun;
  }
}
