#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/store/store.h"
#include "grader/batch/student.h"

/// Lines of a student's code that do not say whose they are: docs/design/understanding.md.
namespace rooflab {

/// What so many submissions have says nothing of one of them.
inline constexpr std::size_t kLeastToShow = 3;

/// Which words and numbers of a class's code may be shown: those that kLeastToShow of its
/// submissions have, and those of the course's own pages. A word of which a part is a part of a
/// student's name has to be both.
class WordsToShow {
 public:
  WordsToShow(const std::vector<Student>& students, const std::vector<std::string>& pages);

  /// The code of one submission.
  void add(const SourceFiles& files);
  bool may_show(const std::string& word) const;

 private:
  std::set<std::string> of_course_, of_names_;
  std::map<std::string, std::size_t> submissions_;
};

struct AnonymousLine {
  bool is_meant = false;
  std::string text = {};
};

/// A line with those around it. Comments and directives are left out, a text in quotation marks is
/// "…", and words and numbers that may not be shown are name1, name2, … and N. Empty where the line
/// has no code.
/// @param text of the file; untrusted
std::vector<AnonymousLine> anonymous_lines(std::string_view text, std::uint32_t line,
                                           const WordsToShow& words);

}  // namespace rooflab
