#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

/// Begins a new part of a course from the template beside this file.
namespace rooflab {

/// A part that cannot be begun: why, and what to do.
class NewPartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part that is to be: its folder, and what follows from it.
struct NewPart {
  std::string folder;  ///< "part6-sorting"
  int number = 0;      ///< 6
  std::string title;   ///< "Sorting"
};

/// Understands what an author asked for. Without a title, it is made from the folder's words.
/// @throws NewPartError for a folder or a title that no part may have
NewPart new_part(const std::string& folder, const std::string& title);

/// Writes labs/, solutions/ and starter/ of the part and handouts/<folder>.md, and adds a row to
/// the tables of parts in README.md and handouts/README.md where there are such. When it throws,
/// the checkout is as it was.
/// @param root the checkout
/// @returns what it wrote, relative to the root, sorted
/// @throws NewPartError when the number is taken, something is in the way, or nothing can be
/// written
std::vector<std::filesystem::path> make_new_part(const NewPart& part,
                                                 const std::filesystem::path& root);

}  // namespace rooflab
