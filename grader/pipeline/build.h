#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"
#include "grader/spec/part.h"

namespace rooflab {

/// What became of a student's file.
struct BuildOutcome {
  enum class End : std::uint8_t {
    built,
    failed,  ///< by the compiler or a limit: the student's to mend
    fault,   ///< the sandbox or the installation failed: a grader fault
  };
  End end = End::built;
  std::filesystem::path library;  ///< when built; lies in the cache
  std::string messages;  ///< of the compiler, paths relative to the submission, capped; untrusted
  bool cached = false;
  bool repeatable = true;  ///< false when a limit or a signal ended the compiler: on another day,
                           ///< with less load, the same file may compile
};

struct BuildOptions {
  Installation installation;
  Toolchain toolchain;
  int compute_capability = 80;  ///< major * 10 + minor of the GPU
  bool sandbox = true;
  double time_limit_s = 120;
};

/// Compiles students' files in the sandbox. What was compiled before is taken from the cache, whose
/// key is everything that the outcome depends on: source, headers, adapter, flags and both
/// compilers. Any number of graders may share a cache.
class Builder {
 public:
  explicit Builder(BuildOptions options) : options_(std::move(options)) {}

  /// Builds the file of one task; may be called from several threads at once.
  /// @param source the text of the student's file
  BuildOutcome build(const PartSpec& part, const TaskSpec& task, const std::string& source) const;

 private:
  /// A file that is put before the compiler, by its path relative to the working directory.
  using Input = std::pair<std::string, std::string>;

  std::vector<Input> inputs(const PartSpec& part, const TaskSpec& task,
                            const std::string& source) const;
  std::vector<std::string> command(const PartSpec& part, const TaskSpec& task) const;
  BuildOutcome compile(const std::filesystem::path& folder, const std::vector<Input>& inputs,
                       const std::vector<std::string>& command) const;

  BuildOptions options_;
};

}  // namespace rooflab
