#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/batch/anonymous_code.h"
#include "grader/batch/course.h"
#include "grader/batch/outputs/class_analysis.h"
#include "grader/batch/store/store.h"

/// Short examples of what many of a class got wrong, for its next lecture.
namespace rooflab {

/// An example is of a mistake that so many submissions have: it points at nobody.
inline constexpr std::size_t kLeastForExample = kLeastToShow;

struct LectureExample {
  std::string id = {};  ///< follows from what it shows
  std::string task = {};
  std::string code = {};
  std::size_t submissions = 0;  ///< that have the code in the task
  std::size_t of = 0;
  std::vector<AnonymousLine> lines = {};
};

/// The texts of a course's own pages, whose words anybody may know.
/// @param handouts the folder of the handouts
std::vector<std::string> texts_of_pages(const std::filesystem::path& handouts);

/// Up to three examples for each of the commonest codes of a part, in an order that says nothing.
std::vector<LectureExample> lecture_examples(Store& store, const PartSpec& part,
                                             const PartAnalysis& analysis,
                                             const std::vector<std::string>& pages);

/// An example as it is shown, as HTML.
std::string example_html(const LectureExample& example);

/// What is said of how the code was made anonymous, on every page that shows it.
extern const char* const kHowAnonymous;

/// The chosen examples as a page without names, for students to see.
/// @param title heads it
std::string examples_page(const std::string& title, const std::vector<LectureExample>& examples,
                          const std::map<std::string, std::string>& code_titles);

}  // namespace rooflab
