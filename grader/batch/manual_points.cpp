#include "grader/batch/manual_points.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "grader/batch/batch_folder.h"
#include "grader/batch/free_text.h"
#include "grader/batch/intake/csv.h"
#include "grader/batch/people_table.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

class RowReader {
 public:
  RowReader(Store& store, const Course& course, const PeopleTable& table)
      : table_(table), names_(store, course) {
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
  std::optional<ManualRow> read(std::size_t row, const std::string& where) {
    table_.refuse_more_fields(row, where, ", and write points as 2.5");
    const std::string points = table_.get(row, "points");
    if (points.empty()) return std::nullopt;
    ManualRow manual;
    manual.student = names_.student(table_.get(row, "student"), where);
    manual.part = names_.part(table_.get(row, "part"), table_.delimiter(), where).number;
    manual.item = one_line(table_.get(row, "item"));
    if (manual.item.empty()) {
      throw BatchError(fmt::format("{}: item is empty; say what the points are for", where));
    }
    manual.points = number(points, where);
    manual.max_points = most_of(manual);
    const std::string most = table_.get(row, "max");
    if (!manual.max_points && !most.empty()) manual.max_points = number(most, where);
    if (manual.points < 0 || (manual.max_points && manual.points > *manual.max_points)) {
      throw BatchError(
          fmt::format("{}: {} points are not from 0 to {}; correct them", where, points,
                      manual.max_points ? format_points(*manual.max_points) : "what you like"));
    }
    manual.comment = sanitize(table_.get(row, "comment"));
    manual.by = one_line(table_.get(row, "by"));
    return manual;
  }

 private:
  /// The most points of a question of free text, as it was graded; nothing for any other item.
  std::optional<double> most_of(const ManualRow& row) const {
    const auto recorded = most_.find({row.student, row.part, row.item});
    if (recorded != most_.end()) return recorded->second;
    const auto usual = usual_most_.find({row.part, row.item});
    return usual == usual_most_.end() ? std::nullopt : std::optional(usual->second);
  }

  double number(const std::string& text, const std::string& where) const {
    const auto value = decimal_of(text, table_.delimiter());
    if (value) return *value;
    throw BatchError(
        fmt::format("{}: {} is no number of points; write it as 2.5", where, one_line(text)));
  }

  const PeopleTable& table_;
  ClassNames names_;
  std::map<std::tuple<std::string, int, std::string>, double> most_;
  std::map<std::pair<int, std::string>, double> usual_most_;
};

}  // namespace

ManualImport import_manual_points(Store& store, const Course& course, std::string_view text,
                                  const std::string& name, std::int64_t now) {
  const PeopleTable table(text, name, {"student", "part", "item", "points"});
  RowReader reader(store, course, table);
  ManualImport import;
  Transaction transaction = store.begin();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto row = reader.read(i, fmt::format("{}, row {}", name, i + 2));
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
