#include "grader/batch/intake/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "grader/batch/intake/csv.h"
#include "grader/batch/intake/found_files.h"
#include "grader/batch/intake/roster_columns.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

bool is_about_students(Column column) {
  return column != Column::group && column != Column::group_id && column != Column::section;
}

/// Students may be named by their given and family names only in two columns: what is one name.
bool is_half_a_name(Column column) { return column == Column::first || column == Column::last; }

bool has_groups(const std::vector<std::string>& headings) {
  const Columns columns = columns_of(headings);
  return columns.contains(Column::group) && std::ranges::any_of(columns, [](const auto& column) {
           return is_about_students(column.first) && !is_half_a_name(column.first);
         });
}

CsvFile read_table(std::string_view text, const std::string& name) {
  CsvFile table = read_csv(text, name, {.knows = has_groups});
  if (table.rows.empty()) {
    throw CsvError(fmt::format(
        "{}:1: the table of groups is empty; its first row has to name the columns group and "
        "student, and every other row a student with the group",
        name));
  }
  require_utf8(table, name);
  if (has_groups(table.rows.front().fields)) return table;
  throw CsvError(fmt::format(
      "{}:{}: the first row has to name the columns group and student, separated by commas, "
      "semicolons or tabs; it is \"{}\"",
      name, table.rows.front().line,
      shorten(one_line(fmt::format("{}", fmt::join(table.rows.front().fields, "\", \""))), 200)));
}

/// Reads one row after the other.
class RowReader {
 public:
  RowReader(const CsvFile& table, std::string name, const Roster& roster)
      : columns_(columns_of(table.rows.front().fields)), name_(std::move(name)), roster_(roster) {}

  std::string group(const CsvRow& row) const { return field(row, Column::group); }

  /// The one student whom all columns of the row mean. @return nothing when all of them are empty
  std::optional<Student> student(const CsvRow& row) const {
    std::optional<Student> found;
    for (const auto& [column, index] : columns_) {
      if (!is_about_students(column) || is_half_a_name(column) || column == Column::name) continue;
      take(row, column, found);
    }
    // Two students may have one name, and be told apart by what stands beside it.
    if (!found && columns_.contains(Column::name)) take(row, Column::name, found);
    return found;
  }

  CsvError error(const CsvRow& row, const std::string& message, const std::string& remedy) const {
    return CsvError(fmt::format("{}:{}: {}; {}", name_, row.line, message, remedy));
  }

 private:
  void take(const CsvRow& row, Column column, std::optional<Student>& found) const {
    const std::string text = field(row, column);
    if (text.empty()) return;
    const auto named = roster_.named(text);
    if (!named) {
      throw error(row, fmt::format("\"{}\" is nobody on the roster, or several", shown(text)),
                  "write a key, login, e-mail address or number of the roster");
    }
    if (found && found->key != named->key) {
      throw error(row,
                  fmt::format("the row means both {} and {}", shown(found->key), shown(named->key)),
                  "correct the column that is wrong");
    }
    found = named;
  }

  std::string field(const CsvRow& row, Column column) const {
    const std::size_t index = columns_.at(column);
    if (index >= row.fields.size()) return "";
    const std::string& text = row.fields[index];
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
  }

  Columns columns_;
  std::string name_;
  const Roster& roster_;
};

}  // namespace

Groups Groups::parse(std::string_view text, const std::string& name, const Roster& roster) {
  const CsvFile table = read_table(text, name);
  const RowReader reader(table, name, roster);
  Groups groups;
  std::map<std::string, std::size_t> lines;
  for (auto row = table.rows.begin() + 1; row != table.rows.end(); ++row) {
    const std::string group = reader.group(*row);
    const auto student = reader.student(*row);
    if (group.empty()) continue;  // a student who works alone, or a blank row
    if (!student) {
      throw reader.error(*row, fmt::format("nothing says who is in group {}", shown(group)),
                         "fill in the row or remove it");
    }
    const auto [line, is_new] = lines.emplace(student->key, row->line);
    if (!is_new) {
      throw reader.error(
          *row,
          fmt::format("{} is in a group already, {}, by line {}", shown(student->key),
                      shown(groups.group_of(student->key)), line->second),
          "remove one of the two rows");
    }
    groups.members_[group].push_back(student->key);
    groups.group_of_[student->key] = group;
  }
  if (groups.members_.empty()) {
    throw CsvError(
        fmt::format("{}:{}: there are headings, but no groups; write a row for each "
                    "student, or leave out --groups",
                    name, table.rows.front().line));
  }
  return groups;
}

std::string Groups::kept() const {
  return nlohmann::json(members_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Groups Groups::from_kept(std::string_view text) {
  Groups groups;
  const nlohmann::json kept = nlohmann::json::parse(text, nullptr, false);
  if (!kept.is_object()) return groups;
  for (const auto& [group, keys] : kept.items()) {
    for (const nlohmann::json& key : keys) {
      if (!key.is_string()) continue;
      groups.members_[group].push_back(key);
      groups.group_of_[key] = group;
    }
  }
  return groups;
}

Groups Groups::without(const std::string& key) const {
  Groups rest = *this;
  const auto group = rest.group_of_.find(key);
  if (group == rest.group_of_.end()) return rest;
  std::erase(rest.members_[group->second], key);
  if (rest.members_[group->second].empty()) rest.members_.erase(group->second);
  rest.group_of_.erase(group);
  return rest;
}

std::string Groups::group_of(const std::string& key) const {
  const auto group = group_of_.find(key);
  return group == group_of_.end() ? "" : group->second;
}

std::vector<std::string> Groups::members_of(const std::string& group) const {
  const auto members = members_.find(group);
  return members == members_.end() ? std::vector<std::string>() : members->second;
}

}  // namespace rooflab
