#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "grader/cli/options.h"
#include "grader/device/device.h"
#include "grader/pipeline/build.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/oracles.h"
#include "grader/pipeline/toolchain.h"
#include "grader/pipeline/trace.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"

namespace rooflab {

/// The submission that the command line means.
std::filesystem::path submission_of(const Options& options, const Installation& installation);

/// What to do with a GPU that labs/course.toml does not list: the points of its targets are proven
/// on those alone.
enum class UnlistedGpu : std::uint8_t {
  allow,   ///< for authors, and to replay a grade
  warn,    ///< of a real one, which a student cannot choose; simulated ones are refused
  refuse,  ///< for grades that count
};

struct GradingSetup {
  int part = 0;
  std::string device = {};  ///< see open_device; empty: the course's
  UnlistedGpu unlisted = UnlistedGpu::refuse;
  bool sandbox = true;
  unsigned workers = 0;          ///< threads of a simulated GPU; 0: one per CPU
  bool tells_of_device = false;  ///< see tell_of_device
  bool for_grades = false;       ///< of a class: the kernels of work logs are graded again
};

/// Everything that grading submissions of one part takes, put together once.
class Grading {
 public:
  /// @throws SpecError, InstallationError or DeviceError for what is not there
  Grading(const Installation& installation, const GradingSetup& setup);

  /// Who is told what while a grade is made; see GradeTools.
  struct Listener {
    std::function<void(const std::string&)> progress = {};
    std::function<void(const TaskResult&)> graded = {};
    std::function<void(const TaskSpec&, const Diagnostic&)> failing = {};
    std::function<void(Exploration)> explore = {};
  };

  /// The way of one grade: build, run, check, time, score. Hints cost what the course says.
  /// @param trace keeps what the device did; may be null
  /// @param revealed keeps the hidden cases that fail, whole, for instructors alone; may be null
  GradeResult grade_once(const GradeRequest& request, const Listener& listener, TraceLog* trace,
                         std::vector<RevealedCase>* revealed = nullptr);

  const PartSpec& part() const { return part_; }
  const Device& device() const { return *device_; }
  /// What a student should know of the device; empty for nothing.
  const std::string& warning() const { return warning_; }

 private:
  void sort_by_task(std::vector<RevealedCase>& revealed) const;

  Installation installation_;
  bool sandbox_;
  bool for_grades_;
  CourseSpec course_;
  std::string course_name_;
  std::string checkout_;
  PartSpec part_;
  Toolchain toolchain_;
  std::unique_ptr<Device> device_;
  std::string warning_;
  Builder builder_;
  OracleLibrary oracles_;
};

}  // namespace rooflab
