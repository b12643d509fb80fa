#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/intake/csv.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// A table that people fill in, whose first row names its columns in any order and case.
class PeopleTable {
 public:
  /// @param needed the columns that it has to have
  /// @throws BatchError or CsvError when it is empty, has other headings, or is not in UTF-8
  PeopleTable(std::string_view text, std::string name, const std::vector<std::string>& needed);

  std::size_t rows() const { return file_.rows.size() - 1; }
  std::size_t line_of(std::size_t row) const { return file_.rows[row + 1].line; }
  char delimiter() const { return file_.delimiter; }
  /// Without blanks at its ends; empty where the row or the table does not have it.
  std::string get(std::size_t row, const std::string& column) const;
  /// "2,5" in a table of commas is two fields, and what follows would be taken for another
  /// column's. @throws BatchError where a row has more fields than columns
  /// @param advice "and write points as 2.5"; may be empty
  void refuse_more_fields(std::size_t row, const std::string& where,
                          const std::string& advice) const;

 private:
  CsvFile file_;
  std::map<std::string, std::size_t> columns_;
};

/// Students and parts as people write them.
class ClassNames {
 public:
  ClassNames(Store& store, const Course& course);

  /// @throws BatchError where nobody, or several, go by that name
  const std::string& student(const std::string& name, const std::string& where) const;
  /// @throws BatchError where the batch grades no such part
  const PartSpec& part(const std::string& text, char delimiter, const std::string& where) const;

 private:
  const Course& course_;
  std::map<std::string, std::set<std::string>> keys_;
};

}  // namespace rooflab
