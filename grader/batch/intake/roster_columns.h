#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/intake/fold_name.h"

namespace rooflab {

/// What a column of a table of students holds.
enum class Column : std::uint8_t {
  key,
  id,
  name,
  first,
  last,
  email,
  login,
  section,
  sis_id,
  canvas_id,
  identifier,
  group,
  group_id,
};

/// A heading as fold_name() leaves it.
struct Heading {
  std::string_view text;
  Column column;
};
inline constexpr Heading kHeadings[] = {
    {"key", Column::key},
    {"id", Column::id},
    {"student", Column::name},
    {"name", Column::name},
    {"full name", Column::name},
    {"student name", Column::name},
    {"display name", Column::name},
    {"first name", Column::first},
    {"given name", Column::first},
    {"last name", Column::last},
    {"family name", Column::last},
    {"surname", Column::last},
    {"email", Column::email},
    {"e mail", Column::email},
    {"mail", Column::email},
    {"email address", Column::email},
    {"login", Column::login},
    {"login id", Column::login},
    {"sis login id", Column::login},
    {"username", Column::login},
    {"user name", Column::login},
    {"netid", Column::login},
    {"github username", Column::login},
    {"section", Column::section},
    {"sections", Column::section},
    {"group", Column::group},
    {"groups", Column::group},
    {"group name", Column::group},
    {"team", Column::group},
    {"canvas group id", Column::group_id},
    {"canvas user id", Column::canvas_id},
    {"user id", Column::sis_id},
    {"sid", Column::sis_id},
    {"sis id", Column::sis_id},
    {"sis user id", Column::sis_id},
    {"student id", Column::sis_id},
    {"student number", Column::sis_id},
    {"id number", Column::sis_id},
    {"orgdefinedid", Column::sis_id},
    {"identifier", Column::identifier},
};

/// Where each column stands; of two with one meaning the first counts.
using Columns = std::map<Column, std::size_t>;

inline Columns columns_of(const std::vector<std::string>& headings) {
  Columns columns;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const std::string heading = fold_name(headings[i]);
    const auto known = std::ranges::find(kHeadings, heading, &Heading::text);
    if (known != std::end(kHeadings)) columns.emplace(known->column, i);
  }
  return columns;
}

}  // namespace rooflab
