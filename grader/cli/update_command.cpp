#include "grader/cli/update_command.h"

#include <fmt/format.h>

#include "grader/author/kit_update.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/shared_kit.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

void print(std::ostream& out, const KitUpdate& update) {
  for (const std::string& line : describe(update)) out << "kit: " << one_line(line) << '\n';
}

/// Of a shared kit that nobody has used here yet, makes the student's own folder, and has the
/// installation be of it.
void use_own_folder(std::ostream& out, Installation& installation) {
  const std::filesystem::path kit = installation.build.parent_path();
  if (!is_shared_kit(kit) || installation.root != kit) return;
  installation.root = make_own_folder(kit, std::filesystem::current_path());
  out << fmt::format("grader: {} is your folder now; your files are in {}\n",
                     installation.root.string(), installation.starter().string());
}

std::optional<KitUpdate> update(const Installation& installation) {
  const std::filesystem::path kit = installation.build.parent_path();
  const bool is_own =
      is_shared_kit(kit) && find_own_folder(kit, installation.root) == installation.root;
  if (is_own) link_kit(kit, installation.root);
  return update_kit(installation.root);
}

}  // namespace

int run_update(std::ostream& out, Installation& installation) {
  use_own_folder(std::cerr, installation);
  const auto done = update(installation);
  if (!done) {
    throw UsageError(
        installation.root.string() +
        " is no student kit; in a checkout, starter/ is made by grader starter --write");
  }
  print(out, *done);
  if (done->failed.empty()) {
    out << "starter/ is up to date"
        << (done->now.empty() ? std::string() : " with " + one_line(done->now)) << '\n';
  }
  return done->failed.empty() ? 0 : 1;
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

void keep_kit_current(std::ostream& out, Installation& installation) {
  use_own_folder(out, installation);
  try {
    if (!is_kit_outdated(installation.root)) return;
    if (const auto done = update(installation)) print(out, *done);
  } catch (const std::exception& error) {
    out << "grader: starter/ was not brought up to date: " << one_line(error.what()) << '\n';
  }
}

}  // namespace rooflab
