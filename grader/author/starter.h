#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/author/course_pages.h"

/// Makes what students edit (starter/) from the masters (solutions/).
namespace rooflab {

/// A master whose marks do not pair up: file, line, what to do.
class StarterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Takes the answers out of a master. A region from a line `// BEGIN SOLUTION` to `// END SOLUTION`
/// (`#` in place of `//` too) vanishes with its marks; lines `// STARTER: text` right after BEGIN
/// leave `text` behind, indented as BEGIN is.
/// @param name of the file, for messages. @throws StarterError
std::string strip_solution(const std::string& text, const std::string& name);

/// Whatever the part.
inline bool any_part(int) { return true; }

/// What a master hides: the lines of one region, without its marks and STARTER lines.
struct SolutionBlock {
  int line = 0;  ///< of its BEGIN SOLUTION
  std::string text;
};

/// All regions of a master, in order. @param name of the file, for messages. @throws StarterError
std::vector<SolutionBlock> solution_blocks(const std::string& text, const std::string& name);

/// Whether a file of solutions/ is never handed out, not even stripped: hidden cases and answer
/// keys.
bool is_secret(const std::filesystem::path& file);

/// One file of starter/, by its path relative to it.
struct StarterFile {
  std::filesystem::path path;
  std::string text;
};

/// All of starter/ as it follows from the masters of the course's parts, sorted. Hidden cases and
/// answer keys (hidden.toml,
/// *.key.toml) are left out. @throws StarterError
std::vector<StarterFile> generate_starter(const std::filesystem::path& solutions,
                                          const HasPart& has_part = any_part);

/// What differs between the folder and the files, but for parts that the course does not have: one
/// line each, "missing", "differs" or "left over".
std::vector<std::string> compare_starter(const std::filesystem::path& starter,
                                         const std::vector<StarterFile>& files,
                                         const HasPart& has_part = any_part);

/// Makes the folder hold these files and no others, but for parts that the course does not have,
/// which are left as they are. What lay there and is not among them is moved
/// to `before`, under its path in the folder: somebody may have written it.
/// @return what was moved
std::vector<std::filesystem::path> write_starter(const std::filesystem::path& starter,
                                                 const std::vector<StarterFile>& files,
                                                 const std::filesystem::path& before,
                                                 const HasPart& has_part = any_part);

}  // namespace rooflab
