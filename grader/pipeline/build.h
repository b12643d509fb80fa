#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/pipeline/compiler_warnings.h"
#include "grader/pipeline/forbidden_calls.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"
#include "grader/spec/part.h"

namespace rooflab {

/// A file of a submission.
struct SourceFile {
  std::string name;  ///< in the part's folder
  std::string text;
  bool is_header = false;  ///< that the others may include: not compiled by itself
  /// A simulated GPU needs its machine code, for the time model. Nobody waits long for a file that
  /// is not timed, either: its compilation may take a quarter of the time.
  bool is_timed = true;
};

/// What became of a task's files.
struct BuildOutcome {
  enum class End : std::uint8_t {
    built,
    failed,  ///< by the compiler or a limit: the student's to mend
    fault,   ///< the sandbox or the installation failed: a grader fault
  };
  End end = End::built;
  std::filesystem::path library;  ///< when built; lies in the cache
  std::string messages;  ///< of the compiler, paths relative to the submission, capped; untrusted
  std::vector<CompilerWarning> warnings;  ///< those of the submission's own files
  std::string file;  ///< which file does not compile; empty when they do not link
  bool cached = false;
  bool repeatable = true;  ///< false when a limit or a signal ended the compiler: on another day,
                           ///< with less load, the same file may compile
  /// The files, where the library needs or has what the task forbids; else empty.
  std::vector<TracedFile> traced{};
};

struct BuildOptions {
  Installation installation;
  Toolchain toolchain;
  int compute_capability = 80;  ///< major * 10 + minor of the GPU
  /// For a simulated GPU nvcc makes PTX alone. Its machine code is made beside that, for the time
  /// model: a file whose PTX ptxas refuses does not compile, as with nvcc.
  bool for_simulation = false;
  bool sandbox = true;
  double time_limit_s = 120;  ///< of a compiler's run, and of all machine code of a file
};

/// Compiles students' files in the sandbox, each by itself, and links those of a task with its
/// adapter and the toolkit. What was compiled or linked before is taken from the cache, whose key
/// is everything that the outcome depends on: sources, headers, adapter, flags and both compilers.
/// Any number of graders may share a cache.
class Builder {
 public:
  explicit Builder(BuildOptions options) : options_(std::move(options)) {}

  /// Builds the files of one task; may be called from several threads at once, which build what
  /// they have in common once.
  /// @param sources the task's own file and those that it uses
  BuildOutcome build(const PartSpec& part, const TaskSpec& task,
                     const std::vector<SourceFile>& sources) const;

 private:
  /// A file that is put before the compiler, by its path relative to the working directory.
  using Input = std::pair<std::string, std::string>;
  /// One run of the compiler that makes one file.
  struct Step {
    std::vector<std::string> command;
    std::vector<Input> inputs;
    std::string key;           ///< of the cache: all that the outcome depends on
    bool is_library = false;   ///< it makes a library, which is looked into
    bool has_kernels = false;  ///< its machine code is to be made as well
    double share_of_time = 1;  ///< of the time limit
  };
  /// A compiled file.
  struct Object {
    Input file;
    std::string key;  ///< of the step that made it, and shorter than its contents
  };

  Step compile_step(const PartSpec& part, const SourceFile& source,
                    const std::vector<SourceFile>& sources) const;
  Step link_step(const PartSpec& part, const TaskSpec& task,
                 const std::vector<Object>& objects) const;
  /// Compiles a file so that each call of its host code can be told from those of headers.
  Step trace_step(const PartSpec& part, const SourceFile& source,
                  const std::vector<SourceFile>& sources) const;
  TracedFile trace(const PartSpec& part, const SourceFile& source,
                   const std::vector<SourceFile>& sources) const;
  std::vector<std::string> header_folders() const;
  std::string key_of(const std::vector<std::string>& command) const;
  BuildOutcome make(const Step& step) const;
  BuildOutcome run(const std::filesystem::path& folder, const Step& step) const;
  /// Makes machine code of what was compiled, for the device to find.
  /// @returns what ptxas says against it; empty when nothing
  std::string assemble(const std::filesystem::path& object) const;

  BuildOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::set<std::string> busy_;  ///< keys of the steps that some thread is at
};

}  // namespace rooflab
