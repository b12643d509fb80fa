#include "grader/cli/update_command.h"

#include "grader/author/kit_update.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

void print(std::ostream& out, const KitUpdate& update) {
  for (const std::string& line : describe(update)) out << "kit: " << one_line(line) << '\n';
}

}  // namespace

int run_update(std::ostream& out, const Installation& installation) {
  const auto update = update_kit(installation.root);
  if (!update) {
    throw UsageError(
        installation.root.string() +
        " is no student kit; in a checkout, starter/ is made by grader starter --write");
  }
  print(out, *update);
  if (update->failed.empty()) {
    out << "starter/ is up to date"
        << (update->now.empty() ? std::string() : " with " + one_line(update->now)) << '\n';
  }
  return update->failed.empty() ? 0 : 1;
}

bool is_for_students(Options::Command command) {
  switch (command) {
    case Options::Command::grade:
    case Options::Command::show_tasks:
    case Options::Command::hint:
    case Options::Command::list:
    case Options::Command::doctor:
    case Options::Command::hand_in:
    case Options::Command::journal:
    case Options::Command::explain:
    case Options::Command::roofline:
    case Options::Command::welcome:
      return true;
    default:
      return false;
  }
}

void keep_kit_current(std::ostream& out, const Installation& installation) {
  try {
    if (!is_kit_outdated(installation.root)) return;
    if (const auto update = update_kit(installation.root)) print(out, *update);
  } catch (const std::exception& error) {
    out << "grader: starter/ was not brought up to date: " << one_line(error.what()) << '\n';
  }
}

}  // namespace rooflab
