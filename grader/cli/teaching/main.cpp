#include <iostream>
#include <utility>

#include "grader/cli/program.h"
#include "grader/cli/teaching/batch_command.h"
#include "grader/cli/teaching/calibrate_command.h"
#include "grader/cli/teaching/compare_times_command.h"
#include "grader/cli/teaching/new_part_command.h"
#include "grader/cli/teaching/release_command.h"
#include "grader/cli/teaching/review_command.h"
#include "grader/cli/teaching/starter_command.h"
#include "grader/cli/teaching/targets_command.h"
#include "grader/cli/teaching/verify_command.h"
#include "grader/pipeline/grade.h"

namespace {

using namespace rooflab;  // NOLINT(google-build-using-namespace): the program is one file of that
                          // namespace

int run(const Options& options) {
  const Installation installation = find_installation();
  switch (options.command) {
    case Options::Command::starter:
      return make_starter(std::cout, options, installation);
    case Options::Command::batch:
      return grade_class(options.batch, installation);
    case Options::Command::batch_job:
      return grade_job(options.job, installation);
    case Options::Command::batch_task:
      return grade_task_of_list(options.task_list, options.task_index, installation);
    case Options::Command::review:
      return review_class(std::cout, options.review, installation);
    case Options::Command::verify:
      return verify_course(std::cout, options.author.verify, installation);
    case Options::Command::release:
      return make_kit(std::cout, options.author.release, installation);
    case Options::Command::new_part:
      return make_part(std::cout, options.author.new_part, installation);
    case Options::Command::calibrate:
      return calibrate_gpu(std::cout, options.author.calibrate, installation);
    case Options::Command::compare_times:
      return compare_times_with_model(std::cout, options.author.compare_times, installation);
    case Options::Command::targets:
      return course_targets(std::cout, options.author.targets, installation);
    default:
      throw UsageError("rooflab-teach has the commands for those who teach; type grader");
  }
}

}  // namespace

int main(int argc, char** argv) { return rooflab::run_program(argc, argv, run); }
