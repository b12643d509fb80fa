#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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

/// Rows of fields. Rows may differ in length; blank lines are left out.
using CsvTable = std::vector<std::vector<std::string>>;

/// A row with the line that it begins in, the file's first being 1.
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// A table as a spreadsheet saved it.
struct CsvFile {
  char delimiter = ',';
  std::vector<CsvRow> rows;
};

struct CsvOptions {
  /// Whether these are the headings of the table that is wanted; may be empty.
  std::function<bool(const std::vector<std::string>&)> knows = {};
  std::size_t most_rows = 100'000;
};

/// Reads a table that is separated by commas, semicolons (as spreadsheets of many countries save
/// "CSV") or tabs: by what makes headings of its first row that `options` knows, else by what
/// stands there most often. A byte order mark and Excel's line "sep=;" are passed over.
/// @param name of the file, for messages
/// @throws CsvError for a quote that is never closed or stands in the middle of a field, for
/// UTF-16, and for a table of more rows than allowed
CsvFile read_csv(std::string_view text, const std::string& name, const CsvOptions& options = {});

/// @throws CsvError naming the first row that is not in UTF-8: spreadsheets also save tables in the
/// code page of their country, where accents would be lost
void require_utf8(const CsvFile& file, const std::string& name);

/// A number as the table's spreadsheet writes it: "2.5", and "2,5" where commas do not separate.
/// @return nothing for anything else
std::optional<double> decimal_of(std::string_view field, char delimiter);

/// The rows as text, lines ending with CRLF; a field is quoted where it has to be. A field that a
/// spreadsheet would take for a formula (it begins with =, +, -, @, one of these in full width, tab
/// or carriage return, behind blanks or not, and is no number) gets an apostrophe before it.
std::string to_csv(const CsvTable& rows);

}  // namespace rooflab
