#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "grader/author/passages.h"

/// What of a course its students must not have.
namespace rooflab {

/// Where the sources of a course lie.
struct CourseFolders {
  std::filesystem::path labs;
  std::filesystem::path solutions;
  std::filesystem::path examples = {};  ///< programs that pages show; empty: there are none
};

/// One thing to keep: a solution block, a hidden case, a key's reason, a planted mistake, a right
/// submission.
struct Secret {
  std::string what;  ///< "solution", "hidden case", "answer key", "planted mistake", …
  std::filesystem::path origin;  ///< relative to the folder that holds labs/ or solutions/
  int line = 0;                  ///< there; 0: the file as a whole
};

/// All secrets of a course, in the forms in which they are looked for. Numbers are indices of
/// `all`.
struct CourseSecrets {
  std::vector<Secret> all;
  /// 20 words of a solution block, or of the code of a mistake or a right submission, 12 of a
  /// sentence; shorter code whole from ten words on, a shorter sentence from six, the numbers of a
  /// hidden case from four. What the starter, the toolkit or an example says too is no secret, nor
  /// is a hidden case that some part.toml has as a public one.
  Passages passages;
  std::unordered_map<std::string, std::size_t> words;  ///< names of mistakes
  /// Names of hidden cases with less than six words: they count where they stand alone, as a
  /// string does, for words like "one row" stand in many a sentence.
  std::unordered_map<std::string, std::size_t> strings;
  std::unordered_map<std::string, std::size_t> kernels;  ///< functions that run on the device
};

/// @throws StarterError, SpecError or FileError when a source cannot be read.
CourseSecrets collect_secrets(const CourseFolders& folders);

}  // namespace rooflab
