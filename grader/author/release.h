#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/author/kit_files.h"
#include "grader/author/leaks.h"
#include "grader/spec/part.h"

/// Makes the student kit: an archive of the compiled grader and of what students read and edit.
namespace rooflab {

struct ReleaseRequest {
  std::filesystem::path root;   ///< the checkout, with solutions/
  std::filesystem::path build;  ///< the build tree
  std::filesystem::path out;    ///< the archive, "kit.tar.gz"
  /// Lines for the kit's file VERSION. @kit@ in them becomes the kit's version, 12 digits that
  /// follow from all of its other files.
  std::string made_of;
  std::vector<int> parts = {};  ///< that are in the kit; empty: all of the course
  /// Of a `tests` task, how many implementations are hidden. The build knows.
  std::function<int(const PartSpec&, const TaskSpec&)> count_hidden = {};
};

struct Release {
  std::vector<Leak> leaks;  ///< when there is one, no archive was written
  std::size_t files = 0;
  std::uintmax_t bytes = 0;  ///< of the archive
  std::vector<int> parts;    ///< that are in it
  /// Where texts of the kit name parts that are not in it: "handouts/part3-decoder.md:200: part 4".
  std::vector<std::string> mentions;
};

/// Writes the kit. The same files give the same archive, byte for byte. What is in it is searched
/// for secrets first; on any failure `out` is left as it was.
/// @throws ReleaseError; StarterError, SpecError or FileError when a source cannot be read.
Release make_release(const ReleaseRequest& request);

}  // namespace rooflab
