#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/store/store.h"

/// Points that people give: for free-text answers, and for anything else that no program can judge.
namespace rooflab {

struct ManualImport {
  std::size_t points = 0;             ///< rows with points
  std::vector<std::string> replaced;  ///< what was given otherwise before, a line each
};

/// Reads a table with the columns student, part, item and points, and optionally max, comment and
/// by, as any spreadsheet saves it (read_csv); rows without points are left out, so that
/// free_text.csv can be filled in bit by bit.
/// All of it is kept or, when a row is wrong, nothing. What was imported before stays as history.
/// @param name of the file, for messages
/// @throws CsvError or BatchError naming the row and what to do
ManualImport import_manual_points(Store& store, const Course& course, std::string_view text,
                                  const std::string& name, std::int64_t now);

}  // namespace rooflab
