#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/outputs/class_results.h"

/// Archives by which learning platforms take feedback back.
namespace rooflab {

/// Every archive that there may be in the folder of a class.
inline constexpr const char* kCanvasFeedback = "canvas_feedback.zip";
inline constexpr const char* kMoodleFeedback = "moodle_feedback.zip";
inline constexpr const char* kGradescopeRerun = "gradescope_rerun.zip";

class FeedbackArchives {
 public:
  /// @param page the student's feedback page
  /// @param gradescope the student's results.json
  void add(const StudentOutcome& student, const std::string& page, const std::string& gradescope);

  /// The archives by their names. Nothing for those of platforms that nothing came from.
  std::map<std::string, std::string> finish() &&;

 private:
  std::map<std::string, std::map<std::string, std::string>> files_;  ///< by archive
};

/// What an instructor should know of the way back: which archives there are, whose feedback is in
/// none, and why.
std::vector<std::string> words_about_return(const ClassResults& results);

}  // namespace rooflab
