#include "grader/cli/teaching/new_part_command.h"

#include <fmt/ostream.h>

#include "grader/author/new_part/new_part.h"
#include "grader/pipeline/grade.h"

namespace rooflab {

int make_part(std::ostream& out, const NewPartOptions& options, const Installation& installation) {
  try {
    const NewPart part = new_part(options.name, options.title);
    const auto files = make_new_part(part, installation.root);
    fmt::print(out, "Part {}, {}:\n", part.number, part.title);
    for (const auto& file : files) fmt::print(out, "  {}\n", file.string());
    fmt::print(out,
               "\nIts example task works. Next, in the checkout:\n"
               "  cmake --build build --target {1}\n"
               "  build/bin/grader --part {0}                           the starter: a TODO\n"
               "  build/bin/grader --part {0} --submission solutions    the solution: full marks\n"
               "  build/bin/grader verify --part {0}                    both, and its mistake\n"
               "docs/authoring.md goes on from there.\n",
               part.number, part.folder);
    return 0;
  } catch (const NewPartError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace rooflab
