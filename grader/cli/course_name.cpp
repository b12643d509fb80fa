#include "grader/cli/course_name.h"

#include "grader/author/kit_update.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"

namespace rooflab {

std::string course_name(const Installation& installation) {
  if (const std::string kit = course_of_kit(installation.root); !kit.empty()) return one_line(kit);
  const CourseSpec course = course_spec_or_none(installation.labs());
  return one_line(course.title + (course.version.empty() ? "" : ", version " + course.version));
}

std::string version_words() {
  std::string words = "rooflab " ROOFLAB_VERSION;
  try {
    const std::string course = course_name(find_installation());
    if (!course.empty()) words += "\n" + course;
  } catch (const std::exception&) {
    // The program's version can be said without a course, or with one that is broken.
  }
  return words;
}

}  // namespace rooflab
