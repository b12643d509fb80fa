#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace rooflab {

/// The kit cannot be made: what is in the way, and what to do about it.
class ReleaseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One file of the student kit.
struct KitFile {
  enum class Kind : std::uint8_t {
    text,     ///< as it is
    page,     ///< Markdown, without what leads to parts that are not in the kit
    filled,   ///< with its marks filled in: fill_kit_text()
    script,   ///< may be run, and its marks are filled in
    program,  ///< may be run, and goes without symbols
    library,  ///< goes with the symbols that its users need
    object,   ///< is linked to students' code, and goes without debugging information
    link,     ///< symbolic
  };
  std::filesystem::path from;
  std::filesystem::path to;  ///< relative to the kit
  Kind kind = Kind::text;
};

/// What the kit is made of, sorted by `to`: of `root`, the checkout, what students read, include
/// and edit; of `build`, the build tree, what grading needs. Files are chosen by their folder: what
/// is added to one is in the next kit, and whatever else lies about never is. labs/course.toml is
/// not among them: the kit has its own.
/// @param parts the numbers of those that are in the kit
/// @throws ReleaseError when something has not been built; SpecError.
std::vector<KitFile> list_kit_files(const std::filesystem::path& root,
                                    const std::filesystem::path& build,
                                    const std::vector<int>& parts);

}  // namespace rooflab
