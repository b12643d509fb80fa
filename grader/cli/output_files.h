#pragma once

#include <filesystem>

#include "grader/cli/options.h"

namespace rooflab {

/// A slip such as `--html gemv.cu` must not cost a file that somebody wrote: an output replaces
/// only what is empty or such an output itself.
/// @throws UsageError before anything is graded
void refuse_foreign_outputs(const Options& options);

/// Where the HTML report goes unless told otherwise: out/ of this folder, or beside the submission
/// for whoever stands in it, since what lies there is handed in. A single case has a page of its
/// own, and that of its task stays.
/// @param case_number 0: not a single case
std::filesystem::path default_html_file(int part, const std::string& task, int case_number,
                                        const std::filesystem::path& submission);

}  // namespace rooflab
