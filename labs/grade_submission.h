#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Running the grader as a student does, for tests of labs.
namespace rooflab {

/// What one run of build/bin/grader came to.
struct Grade {
  int exit_code = 0;
  nlohmann::json document;  ///< of --json; null when the grader wrote none
};

/// Grades a submission: `grader --part <part> --submission <submission> <more…>`. Inputs are always
/// made from the same seed, so that a test fails every time or never.
Grade grade(int part, const std::filesystem::path& submission,
            const std::vector<std::string>& more = {});

/// Runs the grader with `arguments`, and returns its exit code.
int run_grader(const std::vector<std::string>& arguments);

/// Directories under labs/ that hold a part, sorted.
std::vector<std::filesystem::path> parts();
/// `number` of a part's part.toml.
int number_of(const std::filesystem::path& part);

/// A new folder that vanishes with this object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rooflab
