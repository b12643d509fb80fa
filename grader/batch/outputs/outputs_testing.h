#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "grader/batch/outputs/sample_class_testing.h"
#include "grader/batch/outputs/write_outputs.h"
#include "grader/spec/files.h"

namespace rooflab {

namespace fs = std::filesystem;

/// Writes outputs into a folder of its own.
class Outputs : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }
  void write(const SampleClass& sample, const OutputOptions& options = {}) {
    write_outputs(folder() / "out", sample.results, sample.loader(), sample_gpu(), options);
  }
  std::string text(const std::string& name) const { return read_file(folder() / "out" / name); }
  /// Every file below the temporary folder, by its path.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
      if (entry.is_regular_file())
        all[fs::relative(entry.path(), folder()).string()] = read_file(entry.path());
    }
    return all;
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path() / "rooflab-outputs-test"};
};

/// One student with one graded task, for what is easier to see without a class.
inline SampleClass one_student() {
  SampleClass sample = sample_class(1);
  sample.results.students[0].student.key = "ada";
  return sample;
}

inline PartOutcome& part(SampleClass& sample, std::size_t student, std::size_t index) {
  return sample.results.students[student].parts[index];
}

inline void make_fault(PartOutcome& outcome) {
  outcome.state = PartState::fault;
  outcome.why = "the worker was ended by SIGKILL";
  outcome.tasks.clear();
  outcome.grading.clear();
}

}  // namespace rooflab
