#include "grader/batch/intake/roster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "grader/batch/intake/csv.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/batch/intake/roster_columns.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

bool names_students(const Columns& columns) {
  return std::ranges::any_of(columns, [](const auto& column) {
    return column.first != Column::section && column.first != Column::group &&
           column.first != Column::group_id;
  });
}

CsvFile read_table(std::string_view text, const std::string& name) {
  const auto knows = [](const std::vector<std::string>& headings) {
    return names_students(columns_of(headings));
  };
  CsvFile table = read_csv(text, name, {.knows = knows});
  const std::vector<CsvRow>& rows = table.rows;
  if (rows.empty()) {
    throw CsvError(
        fmt::format("{}:1: the roster is empty; export it again, with its headings", name));
  }
  if (knows(rows.front().fields)) {
    require_utf8(table, name);
    return table;
  }
  throw CsvError(fmt::format(
      "{}:{}: no column says who a student is; the headings are \"{}\"; have one called key, id, "
      "name, email, login, student id or identifier",
      name, rows.front().line,
      shorten(one_line(fmt::format("{}", fmt::join(rows.front().fields, "\", \""))), 200)));
}

/// Makes students of rows.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& headings) : columns_(columns_of(headings)) {
    const auto is_sis = [](const std::string& heading) {
      return fold_name(heading).starts_with("sis ");
    };
    canvas_ = std::ranges::any_of(headings, is_sis);
    brightspace_ = std::ranges::any_of(
        headings, [](const std::string& heading) { return fold_name(heading) == "orgdefinedid"; });
  }

  Student student(const std::vector<std::string>& row) const {
    Student student;
    student.on_roster = true;
    student.name = field(row, Column::name);
    if (student.name.empty()) {
      student.name = trimmed(field(row, Column::first) + " " + field(row, Column::last));
    }
    student.email = field(row, Column::email);
    student.login = identity(row, Column::login);
    student.section = field(row, Column::section);
    if (student.section.empty()) student.section = group_name(row);
    student.canvas_id = field(row, Column::canvas_id);
    student.sis_id = identity(row, Column::sis_id);
    const std::string id = field(row, Column::id);
    const std::string identifier = field(row, Column::identifier);
    // Canvas's "ID" is its own number, that of a plain table the university's.
    if (canvas_) student.canvas_id = id;
    if (!canvas_ && student.sis_id.empty()) student.sis_id = id;
    if (fold_name(identifier).starts_with("participant ")) student.moodle_identifier = identifier;
    const std::array keys = {field(row, Column::key), canvas_ ? std::string() : id,
                             student.login,           student.sis_id,
                             student.email,           identifier,
                             student.canvas_id,       student.name};
    const auto* const key =
        std::ranges::find_if(keys, [](const std::string& candidate) { return !candidate.empty(); });
    if (key != keys.end()) student.key = *key;
    return student;
  }

  std::string group_name(const std::vector<std::string>& row) const {
    return field(row, Column::group);
  }
  std::string group_id(const std::vector<std::string>& row) const {
    return field(row, Column::group_id);
  }

  /// Rows of Canvas's that are no students: the maximum points, notes on posting, the test student.
  bool is_no_student(const Student& student) const {
    if (student.name == "Points Possible") return true;
    return canvas_ && (student.key.empty() || student.name == "Student, Test");
  }

 private:
  std::string field(const std::vector<std::string>& row, Column column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() || at->second >= row.size() ? "" : trimmed(row[at->second]);
  }

  /// Brightspace exports "#ada", so that a spreadsheet does not take 0042 for a number.
  std::string identity(const std::vector<std::string>& row, Column column) const {
    const std::string text = field(row, column);
    return brightspace_ && text.starts_with('#') ? text.substr(1) : text;
  }

  Columns columns_;
  bool canvas_ = false;
  bool brightspace_ = false;
};

bool is_blank(const std::vector<std::string>& row) {
  return std::ranges::all_of(row, [](const std::string& field) { return trimmed(field).empty(); });
}

}  // namespace

Roster Roster::parse(std::string_view text, const std::string& name) {
  const CsvFile table = read_table(text, name);
  const std::vector<CsvRow>& rows = table.rows;
  const Reader reader(rows.front().fields);
  Roster roster;
  std::map<std::string, std::size_t> lines;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    if (is_blank(row->fields)) continue;
    Student student = reader.student(row->fields);
    if (reader.is_no_student(student)) continue;
    if (student.key.empty()) {
      throw CsvError(
          fmt::format("{}:{}: nothing says who this student is; fill in the row or remove it", name,
                      row->line));
    }
    const auto [other, is_new] = lines.emplace(student.key, row->line);
    if (!is_new) {
      throw CsvError(fmt::format(
          "{}:{}: \"{}\" is the student of line {} too; remove one of the rows, or add a column "
          "`key` that tells them apart",
          name, row->line, shorten(one_line(student.key), 80), other->second));
    }
    roster.students_.push_back(std::move(student));
    roster.groups_.push_back(
        {fold_letters(reader.group_name(row->fields)), reader.group_id(row->fields)});
  }
  if (roster.students_.empty()) {
    throw CsvError(fmt::format("{}:{}: there are headings, but no students; export it again", name,
                               rows.front().line));
  }
  return roster;
}

}  // namespace rooflab
