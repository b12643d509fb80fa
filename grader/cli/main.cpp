#include <exception>
#include <iostream>

#include "grader/cli/batch_command.h"
#include "grader/cli/calibrate_command.h"
#include "grader/cli/compare_times_command.h"
#include "grader/cli/completion_command.h"
#include "grader/cli/grade_command.h"
#include "grader/cli/hand_in_command.h"
#include "grader/cli/hint_command.h"
#include "grader/cli/info_commands.h"
#include "grader/cli/journal_command.h"
#include "grader/cli/machine_commands.h"
#include "grader/cli/new_part_command.h"
#include "grader/cli/options.h"
#include "grader/cli/release_command.h"
#include "grader/cli/review_command.h"
#include "grader/cli/targets_command.h"
#include "grader/cli/update_command.h"
#include "grader/cli/verify_command.h"
#include "grader/cli/welcome.h"
#include "grader/device/device.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

namespace {

using namespace rooflab;  // NOLINT(google-build-using-namespace): the program is one file of that
                          // namespace

constexpr int kUsageError = 2;
constexpr int kGraderFault = 3;

int run(Options options) {
  if (options.command == Options::Command::welcome) return welcome(std::cout);
  if (options.command == Options::Command::complete_words) {
    return complete_words(std::cout, options.words);
  }
  Installation installation = find_installation();
  if (options.command == Options::Command::update) return run_update(std::cout, installation);
  if (is_for_students(options.command)) keep_kit_current(std::cerr, installation);
  if (!options.part && options.task) options.part = part_of_task(installation, *options.task);
  switch (options.command) {
    case Options::Command::grade:
      return run_grade(options, installation);
    case Options::Command::show_tasks:
      return show_tasks(std::cout, options, installation);
    case Options::Command::hint:
      return show_hint(std::cout, options, installation);
    case Options::Command::list:
      return list_all_parts(std::cout, installation);
    case Options::Command::doctor:
      return examine_machine(std::cout, installation);
    case Options::Command::hand_in:
      return hand_in(std::cout, options.hand_in, installation);
    case Options::Command::journal:
      return keep_journal(std::cout, options.journal, installation);
    case Options::Command::explain:
      return explain_code(std::cout, options, installation);
    case Options::Command::pages:
      return write_pages(std::cout, options.folder, installation);
    case Options::Command::roofline:
      return show_rooflines(std::cout, options, installation);
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
    case Options::Command::completion:
      return print_completion(std::cout, options.shell);
    case Options::Command::complete_words:
    case Options::Command::update:
    case Options::Command::welcome:
      break;  // done above
  }
  return kGraderFault;
}

int complain(const std::exception& error, int code) {
  std::cerr << "grader: " << sanitize(error.what()) << '\n';  // it may repeat what was typed
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse_options(argc, argv));
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    return complain(error, kUsageError);
  } catch (const UnknownPart& error) {
    return complain(error, kUsageError);
  } catch (const DeviceError& error) {
    return complain(error, kUsageError);
  } catch (const gpu_spec::SpecError& error) {
    return complain(error, kUsageError);
  } catch (const std::exception& error) {
    return complain(error, kGraderFault);
  }
}
