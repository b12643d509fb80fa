#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/lecture_examples.h"
#include "grader/batch/outputs/class_analysis.h"
#include "grader/batch/store/store.h"
#include "grader/review/class_view.h"

namespace rooflab {

/// What the class understood of one part, with examples for a lecture.
struct AnalysisView {
  PartAnalysis part = {};
  std::vector<LectureExample> examples = {};
};

/// Reads all evidence of a part once, and again when another grading counts for somebody: what a
/// grading came to never changes.
class AnalysisCache {
 public:
  /// @param handouts whose words examples may have
  /// @return what stays valid until the next call
  const AnalysisView& look(Store& store, const Course& course, const ReviewedClass& reviewed,
                           int part, const std::filesystem::path& handouts);

 private:
  struct Known {
    std::string gradings;  ///< that it was made from
    AnalysisView view;
  };
  std::map<int, Known> known_;  ///< by part
};

/// Those of a form, in the order of the page.
std::vector<LectureExample> chosen_examples(const AnalysisView& view,
                                            const std::set<std::string>& ids);

/// @param code_titles see read_code_titles()
/// @param message what was done, or why not; may be empty
std::string analysis_page(const ReviewedClass& reviewed, const AnalysisView& view,
                          const std::map<std::string, std::string>& code_titles,
                          const std::string& message, const std::string& form_token);

}  // namespace rooflab
