#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/student.h"

namespace rooflab {

/// What a submission tells of who made it: each may be empty, and each may be a lie.
struct StudentHints {
  std::string name = {};
  std::string email = {};
  std::string login = {};
  std::string sis_id = {};
  std::string canvas_id = {};
  std::string moodle_identifier = {};
  std::string canvas_name = {};  ///< "lovelaceada", as Canvas writes names into file names
};

/// The students of a class, from a CSV file: a gradebook as Canvas exports it, a grading worksheet
/// of Moodle, a roster of Gradescope, a gradebook of Brightspace, or any table with columns such as
/// id, name, email, login and section. Columns are known by their headings; unknown ones are left
/// alone.
class Roster {
 public:
  Roster() = default;
  /// @param name of the file, for messages
  /// @throws CsvError when no column names students, or two students share a key; it says in which
  /// line, and what to do
  static Roster parse(std::string_view text, const std::string& name);

  /// What a batch keeps of it: the columns that are used, as JSON. Other marks and whatever else
  /// the instructor's file holds are not in it.
  std::string kept() const;
  /// @return nothing for a text that kept() has not written
  static std::optional<Roster> from_kept(std::string_view text);
  /// Everybody but the student with this key.
  Roster without(const std::string& key) const;

  const std::vector<Student>& students() const { return students_; }

  /// The one student whom a table means by a key, login, e-mail address, number, Canvas's or
  /// Moodle's identifier, or else by a name.
  /// @return nothing when it fits nobody, or several
  std::optional<Student> named(const std::string& name) const;

  /// The one student whom the hints fit. Identifiers decide before logins, those before e-mail
  /// addresses, those before names; case and accents do not matter in names. A login may stand
  /// after an assignment's name ("lab1-ada"), where nothing fits better.
  /// @return nothing when they fit nobody, or several, or when identifier, login and address are
  /// those of different students
  std::optional<Student> find(const StudentHints& hints) const;

  /// The students of a group, in the roster's order: Canvas calls the files of a group's submission
  /// after the group, not after who handed it in. Its name decides, and its number may not be that
  /// of another group.
  /// @return nothing when the roster has no such group
  std::vector<Student> group_of(const StudentHints& hints) const;

 private:
  /// What the roster says of the group that a student is in; each may be empty.
  struct Group {
    std::string name = {};  ///< its letters and digits
    std::string id = {};    ///< Canvas's number of it
  };

  std::vector<Student> students_;
  std::vector<Group> groups_;  ///< by student
};

}  // namespace rooflab
