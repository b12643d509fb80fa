#include "grader/author/verify/grading_command.h"

#include "grader/author/verify/judge.h"

namespace rooflab::verify {

std::vector<std::string> grading_command(const Installation& installation, int part,
                                         const std::string& device,
                                         const std::filesystem::path& submission,
                                         const std::filesystem::path& folder) {
  return {(installation.build / "bin" / "grader").string(),
          "--part",
          std::to_string(part),
          "--submission",
          submission.string(),
          "--device",
          device,
          "--seed",
          std::to_string(kSeed),
          "--json",
          (folder / "grade.json").string(),
          "--html",
          (folder / "report" / "grade.html").string()};
}

}  // namespace rooflab::verify
