#include "grader/cli/release_command.h"

#include "grader/pipeline/grade.h"

namespace rooflab {

int make_kit(std::ostream& /*out*/, const ReleaseOptions& /*options*/,
             const Installation& /*installation*/) {
  throw UsageError("this command is not there yet");
}

}  // namespace rooflab
