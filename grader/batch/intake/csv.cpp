#include "grader/batch/intake/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace rooflab {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kWideMarks[] = {"\xFF\xFE", "\xFE\xFF"};

int no_space(unsigned char) { return 0; }  // RFC 4180: spaces belong to the field

/// libcsv's parser with the rows that it has told of.
class Parser {
 public:
  Parser(char delimiter, std::size_t most_rows) : most_rows_(most_rows) {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
    csv_set_space_func(&parser_, no_space);
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// @return false when the text is no table
  bool feed(std::string_view line, std::size_t number) {
    if (!in_row_) row_.line = number;
    in_row_ = in_row_ || line.find_first_not_of("\r\n") != std::string_view::npos;
    return csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this) == line.size();
  }
  bool finish() { return csv_fini(&parser_, on_field, on_row, this) == 0; }

  bool too_long() const { return rows_.size() > most_rows_; }
  std::size_t line_of_row() const { return row_.line; }
  std::vector<CsvRow> take() { return std::move(rows_); }

 private:
  static void on_field(void* text, std::size_t size, void* self) {
    static_cast<Parser*>(self)->row_.fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void on_row(int, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.in_row_ = false;
    parser.rows_.push_back(std::exchange(parser.row_, {}));
  }

  csv_parser parser_{};
  std::size_t most_rows_;
  std::vector<CsvRow> rows_;
  CsvRow row_;
  bool in_row_ = false;
};

CsvError quote_error(const std::string& name, std::size_t line) {
  return CsvError(
      fmt::format("{}:{}: a quote is never closed, or stands in the middle of a field; write a "
                  "quote that belongs to a field twice, and quotes around the whole field",
                  name, line));
}

bool is_decimal(std::string_view field) {
  if (field.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
  if (field.starts_with('+')) field.remove_prefix(1);
  double ignored = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), ignored);
  return error == std::errc() && end == field.data() + field.size();
}

/// Spreadsheets may leave out blanks and byte order marks before they look for a formula.
std::string_view without_blanks(std::string_view field) {
  constexpr std::string_view kBlanks[] = {" ", "\xC2\xA0", kByteOrderMark};
  const auto* blank = std::begin(kBlanks);
  while (blank != std::end(kBlanks)) {
    if (field.starts_with(*blank)) {
      field.remove_prefix(blank->size());
      blank = std::begin(kBlanks);
    } else {
      ++blank;
    }
  }
  return field;
}

bool is_formula(std::string_view field) {
  field = without_blanks(field);
  return !field.empty() && std::string_view("=+-@\t\r").find(field.front()) != std::string::npos &&
         !is_decimal(field);
}

std::string to_field(const std::string& value) {
  std::string field = is_formula(value) ? "'" + value : value;
  const bool quoted = field.find_first_of(",;\t\"\r\n") != std::string::npos ||
                      without_blanks(field).size() != field.size() || field.ends_with(' ');
  if (!quoted) return field;
  std::string text(2 * field.size() + 2, '\0');
  text.resize(csv_write(text.data(), text.size(), field.data(), field.size()));
  return text;
}

}  // namespace

std::vector<CsvRow> parse_csv_rows(std::string_view text, const std::string& name, char delimiter,
                                   std::size_t most_rows) {
  for (const std::string_view mark : kWideMarks) {
    if (!text.starts_with(mark)) continue;
    throw CsvError(fmt::format(
        "{}: the table is in UTF-16; save it as \"CSV UTF-8\" in the spreadsheet", name));
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(delimiter, most_rows);
  std::size_t line = 1;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    const bool both = end < text.size() && text.substr(end).starts_with("\r\n");
    const std::size_t size = std::min(end, text.size() - 1) + (both ? 2 : 1);
    if (!parser.feed(text.substr(0, size), line)) throw quote_error(name, parser.line_of_row());
    if (parser.too_long()) {
      throw CsvError(
          fmt::format("{}:{}: the table has more than {} rows; leave out what is not of this class",
                      name, line, most_rows));
    }
    text.remove_prefix(size);
    ++line;
  }
  if (!parser.finish()) throw quote_error(name, parser.line_of_row());
  return parser.take();
}

CsvTable parse_csv(std::string_view text, const std::string& name, std::size_t most_rows) {
  CsvTable table;
  for (CsvRow& row : parse_csv_rows(text, name, ',', most_rows)) {
    table.push_back(std::move(row.fields));
  }
  return table;
}

std::string to_csv(const CsvTable& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += to_field(row[i]);
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace rooflab
