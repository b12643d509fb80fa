#include "grader/cli/teaching/batch_command.h"
#include "grader/pipeline/grade.h"

/// In place of batch_command.cpp where the libraries of a batch are missing.
namespace rooflab {
namespace {

[[noreturn]] void refuse() {
  throw UsageError(
      "this grader was built without what grading a class needs; install " ROOFLAB_BATCH_MISSING
      " (scripts/setup does, as root), delete build/CMakeCache.txt and build again");
}

}  // namespace

int grade_class(const BatchOptions& /*options*/, const Installation& /*installation*/) { refuse(); }
int grade_job(const std::string& /*folder*/, const Installation& /*installation*/) { refuse(); }
int grade_task_of_list(const std::string& /*list*/, std::size_t /*index*/,
                       const Installation& /*installation*/) {
  refuse();
}

}  // namespace rooflab
