#include <iostream>
#include <utility>

#include "grader/cli/build_now.h"
#include "grader/cli/completion_command.h"
#include "grader/cli/grade_command.h"
#include "grader/cli/hand_in_command.h"
#include "grader/cli/hint_command.h"
#include "grader/cli/info_commands.h"
#include "grader/cli/journal_command.h"
#include "grader/cli/machine_commands.h"
#include "grader/cli/program.h"
#include "grader/cli/start_teaching.h"
#include "grader/cli/update_command.h"
#include "grader/cli/welcome.h"

namespace {

using namespace rooflab;  // NOLINT(google-build-using-namespace): the program is one file of that
                          // namespace

int run(Options options, char** argv) {
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
      build_part_now(installation, options.part.value());
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
    case Options::Command::completion:
      return print_completion(std::cout, options.shell);
    default:
      start_teaching(installation, argv);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return rooflab::run_program(
      argc, argv, [argv](rooflab::Options options) { return run(std::move(options), argv); });
}
