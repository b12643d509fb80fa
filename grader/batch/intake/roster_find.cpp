#include <algorithm>
#include <functional>

#include "grader/batch/intake/fold_name.h"
#include "grader/batch/intake/roster.h"

namespace rooflab {
namespace {

bool same(const std::string& hint, const std::string& value) {
  return !hint.empty() && lower_case(hint) == lower_case(value);
}

/// "Participant 1234" and "1234" are one.
std::string digits_of(std::string text) {
  std::erase_if(text, [](char letter) { return letter < '0' || letter > '9'; });
  return text;
}

bool same_identifier(const StudentHints& hints, const Student& student) {
  return same(hints.canvas_id, student.canvas_id) || same(hints.sis_id, student.sis_id) ||
         same(hints.sis_id, student.key) ||
         same(digits_of(hints.moodle_identifier), digits_of(student.moodle_identifier));
}

std::string login_of(const Student& student) {
  return student.login.empty() ? student.email.substr(0, student.email.find('@')) : student.login;
}

bool same_login(const StudentHints& hints, const Student& student) {
  return same(hints.login, student.login) || same(hints.login, student.key) ||
         same(hints.login, login_of(student));
}

/// Repositories of a class are called after the assignment and the login: "lab1-ada".
bool ends_with_login(const StudentHints& hints, const Student& student) {
  const std::string login = lower_case(login_of(student));
  return login.size() >= 2 && lower_case(hints.login).ends_with("-" + login);
}

bool same_email(const StudentHints& hints, const Student& student) {
  return same(hints.email, student.email);
}

/// Canvas writes the last name first, and nothing between names; where a last name begins, a roster
/// that has the given name first does not tell.
bool is_canvas_name(const std::string& hint, const std::string& name) {
  const std::string wanted = fold_letters(hint);
  if (wanted.empty()) return false;
  if (wanted == fold_letters(name)) return true;
  if (name.find(',') != std::string::npos) return false;
  const std::string folded = fold_name(name);
  for (std::size_t at = folded.find(' '); at != std::string::npos; at = folded.find(' ', at + 1)) {
    if (wanted == fold_letters(folded.substr(at + 1) + folded.substr(0, at))) return true;
  }
  return false;
}

bool same_name(const StudentHints& hints, const Student& student) {
  const std::string hint = fold_name(given_name_first(hints.name));
  return (!hint.empty() && hint == fold_name(given_name_first(student.name))) ||
         is_canvas_name(hints.canvas_name, student.name);
}

using Fits = std::function<bool(const StudentHints&, const Student&)>;

std::vector<const Student*> all_that_fit(const std::vector<Student>& students,
                                         const StudentHints& hints, const Fits& fits) {
  std::vector<const Student*> found;
  for (const Student& student : students) {
    if (fits(hints, student)) found.push_back(&student);
  }
  return found;
}

}  // namespace

std::vector<Student> Roster::group_of(const StudentHints& hints) const {
  const std::string name = fold_letters(hints.canvas_name);
  std::vector<Student> members;
  if (name.empty()) return members;
  for (std::size_t i = 0; i < students_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.name != name) continue;
    const bool has_both_ids = !group.id.empty() && !hints.canvas_id.empty();
    if (has_both_ids && group.id != hints.canvas_id) return {};
    members.push_back(students_[i]);
  }
  return members;
}

std::optional<Student> Roster::named(const std::string& name) const {
  const auto by_identifier = [](const StudentHints& hints, const Student& student) {
    const std::string& wanted = hints.name;
    return means_one_of(wanted, names_of(student)) || same(wanted, student.canvas_id) ||
           same(wanted, student.moodle_identifier) ||
           same("participant " + wanted, student.moodle_identifier);
  };
  const StudentHints hints{.name = name};
  for (const Fits& fits : {Fits(by_identifier), Fits(same_name)}) {
    const auto found = all_that_fit(students_, hints, fits);
    if (found.size() > 1) return {};
    if (!found.empty()) return *found.front();
  }
  return {};
}

std::optional<Student> Roster::find(const StudentHints& hints) const {
  const Student* decided = nullptr;
  for (const auto& fits : {same_identifier, same_login, same_email}) {
    const auto found = all_that_fit(students_, hints, fits);
    if (found.empty()) continue;
    // What says two things says nothing: it may be a slip, or somebody in another's name.
    if (decided != nullptr && std::ranges::find(found, decided) == found.end()) return {};
    if (decided == nullptr && found.size() > 1) return {};
    if (decided == nullptr) decided = found.front();
  }
  for (const auto& fits : {ends_with_login, same_name}) {
    if (decided != nullptr) break;
    const auto found = all_that_fit(students_, hints, fits);
    if (found.size() > 1) return {};
    if (!found.empty()) decided = found.front();
  }
  if (decided == nullptr) return {};
  return *decided;
}

}  // namespace rooflab
