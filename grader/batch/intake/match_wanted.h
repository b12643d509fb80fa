#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/intake/found_files.h"

namespace rooflab {

/// Which of the files that were found are those that the parts ask for.
struct Matched {
  std::map<std::string, std::string> files;  ///< wanted name -> contents
  std::vector<std::string> notes;
  std::vector<std::string> doubts;  ///< what was not taken though it looks wanted, and why
};

/// A wanted file "part1-metrics/gemv.cu" is the file with this path, below whatever folders; where
/// there is none, the file gemv.cu (or gemv-1.cu, as Canvas calls it) in whatever folder, unless
/// that is another part's or several parts ask for a file of that name. Of several that could be it
/// none is taken, unless they are the same to the byte.
Matched match_wanted(const std::vector<FoundFile>& found, const std::vector<std::string>& wanted);

/// Whether a file could be one that is wanted, going by its name alone.
bool is_wanted_name(const std::string& name, const std::vector<std::string>& wanted);

}  // namespace rooflab
