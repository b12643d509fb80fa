#include "grader/cli/teaching/starter_command.h"

#include <fmt/format.h>

#include "grader/author/course_pages.h"
#include "grader/author/starter.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"

namespace rooflab {

int make_starter(std::ostream& out, const Options& options, const Installation& installation) {
  const HasPart has_part = has_one_of(list_parts(installation.labs()));
  const auto files = generate_starter(installation.solutions(), has_part);
  if (options.write_starter) {
    const auto before = installation.build / "starter_before";
    const auto moved = write_starter(installation.starter(), files, before, has_part);
    out << fmt::format("{} holds {} files\n", installation.starter().string(), files.size());
    if (!moved.empty()) {
      out << fmt::format("{} others lay there; they are in {} now\n", moved.size(),
                         before.string());
    }
    return 0;
  }
  const auto differences = compare_starter(installation.starter(), files, has_part);
  for (const std::string& difference : differences) out << "starter/" << difference << '\n';
  if (!differences.empty()) out << "run: grader starter --write\n";
  return differences.empty() ? 0 : 1;
}

}  // namespace rooflab
