#include <nlohmann/json.hpp>

#include "grader/batch/intake/roster.h"

namespace rooflab {
namespace {

/// What is kept of a student, by the names of the roster's columns.
struct KeptField {
  const char* name;
  std::string Student::*field;
};
constexpr KeptField kKeptFields[] = {
    {"key", &Student::key},
    {"name", &Student::name},
    {"email", &Student::email},
    {"login", &Student::login},
    {"section", &Student::section},
    {"student id", &Student::sis_id},
    {"canvas user id", &Student::canvas_id},
    {"identifier", &Student::moodle_identifier},
};
constexpr const char* kGroup = "group name";
constexpr const char* kGroupId = "canvas group id";

}  // namespace

std::string Roster::kept() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < students_.size(); ++i) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    const auto put = [&row](const char* name, const std::string& value) {
      if (!value.empty()) row[name] = value;
    };
    for (const KeptField& kept : kKeptFields) put(kept.name, students_[i].*kept.field);
    put(kGroup, groups_[i].name);
    put(kGroupId, groups_[i].id);
    rows.push_back(std::move(row));
  }
  return rows.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<Roster> Roster::from_kept(std::string_view text) {
  const nlohmann::json rows = nlohmann::json::parse(text, nullptr, false);
  if (!rows.is_array()) return std::nullopt;
  Roster roster;
  for (const nlohmann::json& row : rows) {
    if (!row.is_object()) return std::nullopt;
    const auto get = [&row](const char* name) {
      const auto value = row.find(name);
      return value != row.end() && value->is_string() ? value->get<std::string>() : std::string();
    };
    Student student;
    for (const KeptField& kept : kKeptFields) student.*kept.field = get(kept.name);
    student.on_roster = true;
    roster.students_.push_back(std::move(student));
    roster.groups_.push_back({get(kGroup), get(kGroupId)});
  }
  return roster;
}

Roster Roster::without(const std::string& key) const {
  Roster rest;
  for (std::size_t i = 0; i < students_.size(); ++i) {
    if (students_[i].key == key) continue;
    rest.students_.push_back(students_[i]);
    rest.groups_.push_back(groups_[i]);
  }
  return rest;
}

}  // namespace rooflab
