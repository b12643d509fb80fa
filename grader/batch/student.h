#pragma once

#include <string>
#include <vector>

namespace rooflab {

/// Somebody on the roster, or whom a submission names. All but `key` may be empty. Text of a roster
/// is the instructor's, text of a submission is a stranger's: reports escape both.
struct Student {
  std::string key = {};  ///< what the batch calls the student everywhere; unique
  std::string name = {};
  std::string email = {};
  std::string login = {};
  std::string section = {};
  std::string sis_id = {};             ///< "SIS User ID" of Canvas: the university's number
  std::string canvas_id = {};          ///< "ID" of Canvas
  std::string moodle_identifier = {};  ///< "Participant 1234" of Moodle
  bool on_roster = false;
};

/// What people call the student in tables, policies and on the command line.
inline std::vector<std::string> names_of(const Student& student) {
  return {student.key, student.login, student.email, student.sis_id};
}

}  // namespace rooflab
