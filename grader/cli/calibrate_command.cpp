#include "grader/cli/calibrate_command.h"

#include "grader/pipeline/grade.h"

namespace rooflab {

int calibrate_gpu(std::ostream& /*out*/, const CalibrateOptions& /*options*/,
                  const Installation& /*installation*/) {
  throw UsageError("this command is not there yet");
}

}  // namespace rooflab
