#include "grader/spec/handed_out.h"

#include <filesystem>

#include "grader/spec/hints_used.h"
#include "grader/spec/work_log.h"

namespace rooflab {

std::vector<std::string> files_to_hand_in(const PartSpec& part) {
  std::vector<std::string> files = submitted_files(part);
  files.emplace_back(kHintsUsedFile);
  if (work_log_task(part) != nullptr) files.emplace_back(kLoggedRunsFile);
  return files;
}

std::string where_handed_out(const PartSpec& part, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path root = part.root.parent_path().parent_path();  // of labs/<part>
  for (const char* folder : {"originals/starter", "starter"}) {
    const fs::path path = fs::path(folder) / part.directory / file;
    std::error_code error;
    if (!root.empty() && fs::exists(root / path, error)) return path.string();
  }
  return "the course's kit";
}

}  // namespace rooflab
