#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/intake/roster.h"

namespace rooflab {

/// Who works with whom, as the instructor says, whatever delivered the class: a table with a row
/// for each student.
class Groups {
 public:
  /// Nobody works with anybody.
  Groups() = default;
  /// Reads a column `group` and the columns of a roster, or `student`, which may hold whatever the
  /// roster knows the student by.
  /// @param name of the file, for messages
  /// @throws CsvError naming the line: for a student who is not on the roster or is in two groups,
  /// a row whose columns mean two students, and a table without groups
  static Groups parse(std::string_view text, const std::string& name, const Roster& roster);

  /// What a batch keeps of it: groups with the keys of their members, as JSON.
  std::string kept() const;
  /// No groups for a text that kept() has not written.
  static Groups from_kept(std::string_view text);
  /// Everybody but this student.
  Groups without(const std::string& key) const;

  /// The group that a student is in; empty where there is none.
  std::string group_of(const std::string& key) const;
  /// The keys of its members, in the table's order.
  std::vector<std::string> members_of(const std::string& group) const;

 private:
  std::map<std::string, std::vector<std::string>> members_;  ///< by group
  std::map<std::string, std::string> group_of_;              ///< by key
};

}  // namespace rooflab
