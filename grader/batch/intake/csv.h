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
/// @throws CsvError for a quote that is never closed or stands in the middle of a field, for
/// UTF-16, and for a table of more than `most_rows` rows
CsvTable parse_csv(std::string_view text, const std::string& name, std::size_t most_rows = 100'000);

/// A row with the line that it begins in, the file's first being 1.
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// parse_csv() for who has to name lines, or has to do with spreadsheets that separate by
/// semicolon.
std::vector<CsvRow> parse_csv_rows(std::string_view text, const std::string& name,
                                   char delimiter = ',', std::size_t most_rows = 100'000);

/// The rows as text, lines ending with CRLF; a field is quoted where it has to be. A field that a
/// spreadsheet would take for a formula (it begins with =, +, -, @, tab or carriage return, and is
/// no number) gets an apostrophe before it.
std::string to_csv(const CsvTable& rows);

}  // namespace rooflab
