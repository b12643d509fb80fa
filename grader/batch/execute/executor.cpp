#include "grader/batch/execute/executor.h"

#include <algorithm>

namespace rooflab {

std::vector<std::string> worker_command(const std::filesystem::path& grader,
                                        const std::filesystem::path& folder) {
  return {grader.string(), "batch-job", folder.string()};
}

bool has_result(const Job& job) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(job.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == kResultFile) {
      std::error_code unknown;
      return entry->symlink_status(unknown).type() == std::filesystem::file_type::regular;
    }
  }
  return false;
}

}  // namespace rooflab
