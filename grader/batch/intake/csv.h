#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Tables as RFC 4180 has them, read and written by libcsv.
namespace rooflab {

/// A table that cannot be read: what, where, and what to do.
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Rows of fields. A byte order mark at the beginning is skipped; rows may differ in length; blank
/// lines are left out.
using CsvTable = std::vector<std::vector<std::string>>;

/// @param name of the file, for messages
/// @throws CsvError for a quote that is never closed and for a table of more than `most_rows` rows
CsvTable parse_csv(std::string_view text, const std::string& name, std::size_t most_rows = 100'000);

/// The rows as text, lines ending with CRLF; a field is quoted where it has to be. A field that a
/// spreadsheet would take for a formula (it begins with =, +, -, @, tab or carriage return, and is
/// no number) gets an apostrophe before it.
std::string to_csv(const CsvTable& rows);

}  // namespace rooflab
