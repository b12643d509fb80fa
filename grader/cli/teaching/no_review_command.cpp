#include "grader/cli/teaching/review_command.h"
#include "grader/pipeline/grade.h"

/// In place of review_command.cpp in a build without it.
namespace rooflab {

int review_class(std::ostream& /*out*/, const ReviewOptions& /*options*/,
                 const Installation& /*installation*/) {
  throw UsageError(
      "this grader was built without its review; install libcpp-httplib-dev (scripts/setup does, "
      "as "
      "root) and what grading a class needs, delete build/CMakeCache.txt, configure with "
      "-DROOFLAB_REVIEW=ON and build again");
}

}  // namespace rooflab
