#pragma once

#include <string>
#include <vector>

namespace rooflab {

class TableReader;

/// Days that each student may be late in all without losing points, a table of the late policy:
///
///     [slip_days]
///     each = 4                    # a student has so many, over all parts
///     per_part = 2                # of which so many may go to one part; all of them when left out
///     [[slip_days.spent]]         # before this batch: on parts that another one has graded
///     student = "ada"             # key, login, e-mail address or SIS id
///     days = 1
class SlipDays {
 public:
  /// Nobody has any.
  SlipDays() = default;
  /// @param reader of the table `slip_days`, and `name` its file
  /// @throws SpecError naming file, line and remedy
  static SlipDays read(TableReader& reader, const std::string& name);

  /// What a student has at the beginning of this batch.
  int left(const std::vector<std::string>& student_names) const;
  int each() const { return each_; }
  int per_part() const { return per_part_; }
  /// Whose days were spent before, as the file calls them: one that fits nobody is a slip of the
  /// pen.
  std::vector<std::string> named_students() const;

 private:
  struct Spent {
    std::string student;
    int days = 0;
  };
  int each_ = 0;
  int per_part_ = 0;
  std::vector<Spent> spent_;
};

}  // namespace rooflab
