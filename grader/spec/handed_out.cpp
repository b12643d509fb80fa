#include "grader/spec/handed_out.h"

#include <algorithm>

#include "grader/spec/hints_used.h"
#include "grader/spec/journal.h"
#include "grader/spec/work_log.h"

namespace rooflab {

std::vector<std::string> files_to_hand_in(const PartSpec& part) {
  std::vector<std::string> files = submitted_files(part);
  files.emplace_back(kHintsUsedFile);
  if (work_log_task(part) != nullptr) files.emplace_back(kLoggedRunsFile);
  files.emplace_back(kJournalFile);
  return files;
}

bool is_note_of_student(const std::filesystem::path& file) {
  return std::ranges::any_of(std::initializer_list<const char*>{kHintsUsedFile, kLoggedRunsFile,
                                                                kJournalFile, kJournalSettingFile},
                             [&](const char* name) { return file.filename() == name; });
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
