#include "grader/batch/whose_numbers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "grader/spec/draws.h"

namespace rooflab {
namespace {

void add(std::vector<std::string>& ids, const std::string& id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

/// An entry of the folder and which of those who handed it in together, from 1: the row of the
/// second one is "lab1~2", and no entry's own id has a "~".
std::pair<std::string, int> entry_and_person(const std::string& row) {
  const std::size_t mark = row.find('~');
  int person = 1;
  if (mark != std::string::npos) {
    std::from_chars(row.data() + mark + 1, row.data() + row.size(), person);
  }
  return {row.substr(0, mark), person};
}

}  // namespace

std::vector<std::string> ids_of(const Student& student) {
  std::vector<std::string> ids;
  std::vector<std::string> names = names_of(student);
  names.push_back(student.email.substr(0, student.email.find('@')));  // logins of many a roster
  for (const std::string& name : names) {
    if (const auto id = student_id(name)) add(ids, *id);
  }
  return ids;
}

WhoseNumbers::WhoseNumbers(Store& store) {
  for (Student& student : store.students()) {
    std::string key = student.key;
    students_.emplace(std::move(key), std::move(student));
  }
  std::vector<SubmissionRow> submissions = store.submissions();
  std::ranges::stable_sort(submissions, {}, [](const SubmissionRow& row) {
    return entry_and_person(row.id);  // the store has them by student
  });
  for (const SubmissionRow& row : submissions) {
    groups_[entry_and_person(row.id).first].push_back(row.student);
  }
}

std::vector<std::string> WhoseNumbers::of(const SubmissionRow& submission) const {
  std::vector<std::string> ids;
  bool on_roster = false;
  for (const std::string& key : groups_.at(entry_and_person(submission.id).first)) {
    const Student& student = students_.at(key);
    on_roster = on_roster || student.on_roster;
    for (const std::string& id : ids_of(student)) add(ids, id);
  }
  if (!on_roster || ids.empty()) ids.insert(ids.begin(), "");  // nobody: the page's own numbers
  return ids;
}

}  // namespace rooflab
