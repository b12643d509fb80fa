#include "grader/batch/people_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/batch/batch_folder.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// By their names in lower case; of two of one name the first counts.
std::map<std::string, std::size_t> headings_of(const std::vector<std::string>& row) {
  std::map<std::string, std::size_t> headings;
  for (std::size_t i = 0; i < row.size(); ++i) headings.emplace(fold_name(row[i]), i);
  return headings;
}

/// "student, part and why"
std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace

PeopleTable::PeopleTable(std::string_view text, std::string name,
                         const std::vector<std::string>& needed) {
  const auto knows = [&](const std::vector<std::string>& row) {
    const auto headings = headings_of(row);
    return std::ranges::all_of(
        needed, [&](const std::string& wanted) { return headings.contains(wanted); });
  };
  file_ = read_csv(text, name, {.knows = knows});
  if (file_.rows.empty()) {
    throw BatchError(name + " is empty; its first row has to name the columns");
  }
  require_utf8(file_, name);
  const CsvRow& first = file_.rows.front();
  if (!knows(first.fields)) {
    throw BatchError(fmt::format(
        "{}:{}: the first row has to name the columns {}, separated by commas, semicolons or tabs; "
        "it is \"{}\"",
        name, first.line, listed(needed),
        shorten(one_line(fmt::format("{}", fmt::join(first.fields, "\", \""))), 200)));
  }
  columns_ = headings_of(first.fields);
}

std::string PeopleTable::get(std::size_t row, const std::string& column) const {
  const std::vector<std::string>& fields = file_.rows[row + 1].fields;
  const auto found = columns_.find(column);
  if (found == columns_.end() || found->second >= fields.size()) return "";
  const std::string& field = fields[found->second];
  const std::size_t begin = field.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return field.substr(begin, field.find_last_not_of(" \t\r\n") - begin + 1);
}

void PeopleTable::refuse_more_fields(std::size_t row, const std::string& where,
                                     const std::string& advice) const {
  const std::vector<std::string>& fields = file_.rows[row + 1].fields;
  const std::size_t width = file_.rows.front().fields.size();
  for (std::size_t i = width; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    throw BatchError(fmt::format(
        "{}: it has {} fields, and the first row names {} columns; put fields with a {} in them "
        "into quotes{}",
        where, fields.size(), width,
        file_.delimiter == '\t' ? "tab" : std::string(1, file_.delimiter), advice));
  }
}

ClassNames::ClassNames(Store& store, const Course& course) : course_(course) {
  for (const Student& student : store.students()) {
    for (const std::string& name : names_of(student)) {
      if (!name.empty()) keys_[name].insert(student.key);
    }
  }
}

const std::string& ClassNames::student(const std::string& name, const std::string& where) const {
  // A key that a spreadsheet would take for a formula comes back with the apostrophe we gave it.
  auto found = keys_.find(name);
  if (found == keys_.end() && name.starts_with('\'')) found = keys_.find(name.substr(1));
  if (found != keys_.end() && found->second.size() == 1) return *found->second.begin();
  throw BatchError(fmt::format(
      "{}: {} is {}; use the key that grades.csv has", where, shorten(one_line(name), 80),
      found == keys_.end() ? "no student of this batch" : "the name of several students"));
}

const PartSpec& ClassNames::part(const std::string& text, char delimiter,
                                 const std::string& where) const {
  const auto number = decimal_of(text, delimiter);
  const auto part = std::ranges::find_if(
      course_.parts, [&](const PartSpec& one) { return number && one.number == *number; });
  if (part != course_.parts.end()) return *part;
  throw BatchError(fmt::format("{}: part {} is none that this batch grades; correct it", where,
                               shorten(one_line(text), 80)));
}

}  // namespace rooflab
