#include "grader/batch/intake/slip_days.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/intake/fold_name.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr int kMostDays = 366;

int days(TableReader& reader, const std::string& key, std::int64_t value) {
  if (value >= 1 && value <= kMostDays) return static_cast<int>(value);
  throw reader.error(key, fmt::format("`{}` is {}", key, value),
                     fmt::format("write a whole number of days from 1 to {}", kMostDays));
}

}  // namespace

SlipDays SlipDays::read(TableReader& reader, const std::string& name) {
  SlipDays slip;
  slip.each_ = days(reader, "each", reader.integer("each"));
  slip.per_part_ = slip.each_;
  if (const auto most = reader.maybe_integer("per_part")) {
    slip.per_part_ = days(reader, "per_part", *most);
  }
  reader.each("spent", [&](const toml::table& table) {
    TableReader row(table, name, "[[slip_days.spent]]");
    Spent spent{row.text("student"), 0};
    spent.days = days(row, "days", row.integer("days"));
    row.finish();
    const bool is_again = means_one_of(spent.student, slip.named_students());
    if (spent.student.empty() || is_again) {
      throw row.error("student",
                      spent.student.empty()
                          ? "`student` is empty"
                          : fmt::format("\"{}\" has spent days already", spent.student),
                      "write one [[slip_days.spent]] for each student, with all of the days");
    }
    if (spent.days > slip.each_) {
      throw row.error(
          "days",
          fmt::format("\"{}\" has spent {} days of {}", spent.student, spent.days, slip.each_),
          "write at most as many days as `each` gives");
    }
    slip.spent_.push_back(std::move(spent));
  });
  reader.finish();
  return slip;
}

int SlipDays::left(const std::vector<std::string>& student_names) const {
  int left = each_;
  for (const Spent& spent : spent_) {
    if (means_one_of(spent.student, student_names)) left -= spent.days;
  }
  return std::max(left, 0);
}

std::vector<std::string> SlipDays::named_students() const {
  std::vector<std::string> students;
  students.reserve(spent_.size());
  for (const Spent& spent : spent_) students.push_back(spent.student);
  return students;
}

}  // namespace rooflab
