#include "grader/batch/manual_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "grader/batch/batch_folder.h"
#include "grader/batch/free_text.h"
#include "grader/batch/intake/csv.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr const char* kNeeded[] = {"student", "part", "item", "points"};

using Headings = std::map<std::string, std::size_t>;

/// By their names in lower case; of two of one name the first counts.
Headings headings_of(const std::vector<std::string>& row) {
  Headings headings;
  for (std::size_t i = 0; i < row.size(); ++i) headings.emplace(fold_name(row[i]), i);
  return headings;
}

bool has_all(const Headings& headings) {
  return std::ranges::all_of(kNeeded,
                             [&](const char* wanted) { return headings.contains(wanted); });
}

CsvFile read_points(std::string_view text, const std::string& name) {
  const auto knows = [](const std::vector<std::string>& row) { return has_all(headings_of(row)); };
  CsvFile file = read_csv(text, name, {.knows = knows});
  if (file.rows.empty()) {
    throw BatchError(name + " is empty; its first row has to name the columns");
  }
  require_utf8(file, name);
  if (knows(file.rows.front().fields)) return file;
  throw BatchError(fmt::format(
      "{}:{}: the first row has to name the columns student, part, item and points, separated by "
      "commas, semicolons or tabs; it is \"{}\"",
      name, file.rows.front().line,
      shorten(one_line(fmt::format("{}", fmt::join(file.rows.front().fields, "\", \""))), 200)));
}

class RowReader {
 public:
  RowReader(Store& store, const Course& course, const CsvFile& file)
      : course_(course),
        delimiter_(file.delimiter),
        width_(file.rows.front().fields.size()),
        columns_(headings_of(file.rows.front().fields)) {
    for (const Student& student : store.students()) {
      for (const std::string& name : names_of(student)) {
        if (!name.empty()) keys_[name].insert(student.key);
      }
    }
    for (const FreeText& text : free_texts(store, course)) {
      most_[{text.student, text.part, text.question.item}] = text.question.max_points;
    }
    for (const PartSpec& part : course.parts) {
      for (const HandQuestion& question : hand_questions_of(part)) {
        usual_most_[{part.number, question.item}] = question.max_points;
      }
    }
  }

  /// @param where "points.csv, row 3"
  std::optional<ManualRow> read(const std::vector<std::string>& row, const std::string& where) {
    refuse_more_fields(row, where);
    const std::string points = get(row, "points");
    if (points.empty()) return std::nullopt;
    ManualRow manual;
    manual.student = student(get(row, "student"), where);
    manual.part = part(get(row, "part"), where);
    manual.item = one_line(get(row, "item"));
    if (manual.item.empty()) {
      throw BatchError(fmt::format("{}: item is empty; say what the points are for", where));
    }
    manual.points = number(points, where);
    manual.max_points = most_of(manual);
    const std::string most = get(row, "max");
    if (!manual.max_points && !most.empty()) manual.max_points = number(most, where);
    if (manual.points < 0 || (manual.max_points && manual.points > *manual.max_points)) {
      throw BatchError(
          fmt::format("{}: {} points are not from 0 to {}; correct them", where, points,
                      manual.max_points ? format_points(*manual.max_points) : "what you like"));
    }
    manual.comment = sanitize(get(row, "comment"));
    manual.by = one_line(get(row, "by"));
    return manual;
  }

 private:
  std::string get(const std::vector<std::string>& row, const std::string& column) const {
    const auto found = columns_.find(column);
    if (found == columns_.end() || found->second >= row.size()) return "";
    const std::string& field = row[found->second];
    const std::size_t begin = field.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return "";
    return field.substr(begin, field.find_last_not_of(" \t\r\n") - begin + 1);
  }

  /// "2,5" in a table of commas is two fields, and what follows would be taken for another
  /// column's.
  void refuse_more_fields(const std::vector<std::string>& row, const std::string& where) const {
    for (std::size_t i = width_; i < row.size(); ++i) {
      if (row[i].empty()) continue;
      throw BatchError(fmt::format(
          "{}: it has {} fields, and the first row names {} columns; put fields with a {} in them "
          "into quotes, and write points as 2.5",
          where, row.size(), width_, delimiter_ == '\t' ? "tab" : std::string(1, delimiter_)));
    }
  }

  int part(const std::string& text, const std::string& where) const {
    const auto part = decimal_of(text, delimiter_);
    const bool known = part && std::ranges::any_of(course_.parts, [&](const PartSpec& one) {
                         return one.number == *part;
                       });
    if (known) return static_cast<int>(*part);
    throw BatchError(fmt::format("{}: part {} is none that this batch grades; correct it", where,
                                 one_line(text)));
  }

  /// The most points of a question of free text, as it was graded; nothing for any other item.
  std::optional<double> most_of(const ManualRow& row) const {
    const auto recorded = most_.find({row.student, row.part, row.item});
    if (recorded != most_.end()) return recorded->second;
    const auto usual = usual_most_.find({row.part, row.item});
    return usual == usual_most_.end() ? std::nullopt : std::optional(usual->second);
  }

  double number(const std::string& text, const std::string& where) const {
    const auto value = decimal_of(text, delimiter_);
    if (value) return *value;
    throw BatchError(
        fmt::format("{}: {} is no number of points; write it as 2.5", where, one_line(text)));
  }

  const std::string& student(const std::string& name, const std::string& where) const {
    // A key that a spreadsheet would take for a formula comes back with the apostrophe we gave it.
    auto found = keys_.find(name);
    if (found == keys_.end() && name.starts_with('\'')) found = keys_.find(name.substr(1));
    if (found != keys_.end() && found->second.size() == 1) return *found->second.begin();
    throw BatchError(fmt::format(
        "{}: {} is {}; use the key that grades.csv has", where, one_line(name),
        found == keys_.end() ? "no student of this batch" : "the name of several students"));
  }

  const Course& course_;
  char delimiter_;
  std::size_t width_;
  Headings columns_;
  std::map<std::string, std::set<std::string>> keys_;
  std::map<std::tuple<std::string, int, std::string>, double> most_;
  std::map<std::pair<int, std::string>, double> usual_most_;
};

}  // namespace

ManualImport import_manual_points(Store& store, const Course& course, std::string_view text,
                                  const std::string& name, std::int64_t now) {
  const CsvFile file = read_points(text, name);
  RowReader reader(store, course, file);
  ManualImport import;
  Transaction transaction = store.begin();
  for (std::size_t i = 1; i < file.rows.size(); ++i) {
    const auto row = reader.read(file.rows[i].fields, fmt::format("{}, row {}", name, i + 1));
    if (!row) continue;
    ++import.points;
    if (const auto before = store.put_manual(*row, now)) {
      import.replaced.push_back(fmt::format("{}, part {}, {}: {} points, were {}", row->student,
                                            row->part, row->item, format_points(row->points),
                                            format_points(*before)));
    }
  }
  transaction.commit();
  return import;
}

}  // namespace rooflab
