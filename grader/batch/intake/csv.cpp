#include "grader/batch/intake/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::string_view kDelimiters = ",;\t";
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

/// The first of these that the field begins with; empty when it begins with none.
template <std::size_t N>
std::string_view beginning(std::string_view field, const std::array<std::string_view, N>& words) {
  const auto found =
      std::ranges::find_if(words, [&](std::string_view word) { return field.starts_with(word); });
  return found == words.end() ? std::string_view() : *found;
}

/// Spreadsheets may leave out blanks and invisible marks before they look for a formula.
std::string_view without_blanks(std::string_view field) {
  static constexpr std::array<std::string_view, 23> kBlanks = {
      " ",      "\n",     "\v",     "\f",     "\u00A0", "\u1680", "\u2000",      "\u2001",
      "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",      "\u2009",
      "\u200A", "\u200B", "\u202F", "\u205F", "\u2060", "\u3000", kByteOrderMark};
  for (auto blank = beginning(field, kBlanks); !blank.empty(); blank = beginning(field, kBlanks)) {
    field.remove_prefix(blank.size());
  }
  return field;
}

/// Those of full width and of small form are what East Asian keyboards make of =, +, - and @.
bool is_formula(std::string_view field) {
  static constexpr std::array<std::string_view, 14> kStarts = {
      "=",      "+",      "-",      "@",      "\t",     "\r",     "\uFF1D",
      "\uFF0B", "\uFF0D", "\uFF20", "\uFE66", "\uFE62", "\uFE63", "\uFE6B"};
  field = without_blanks(field);
  return !beginning(field, kStarts).empty() && !is_decimal(field);
}

/// A spreadsheet that takes semicolons or tabs for separators, as it does by the country, makes
/// several cells of one field, whatever quotes are around it: each is kept from being a formula.
std::string without_formulas(std::string_view value) {
  constexpr std::string_view kOthersSeparators = ";\t\r\n";
  std::string text = is_formula(value) ? "'" : "";
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(value.find_first_of(kOthersSeparators, at), value.size());
    const std::string_view cell = value.substr(at, end - at);
    const std::size_t quotes = std::min(cell.find_first_not_of('"'), cell.size());
    if (at > 0 && is_formula(cell.substr(quotes))) text += '\'';
    text += cell;
    if (end == value.size()) break;
    text += value[end];
    at = end + 1;
  }
  return text;
}

std::string to_field(const std::string& value) {
  const std::string field = without_formulas(value);
  const bool quoted = field.find_first_of(",;\t\"\r\n") != std::string::npos ||
                      without_blanks(field).size() != field.size() || field.ends_with(' ');
  if (!quoted) return field;
  std::string text(2 * field.size() + 2, '\0');
  text.resize(csv_write(text.data(), text.size(), field.data(), field.size()));
  return text;
}

/// Of the first line, its end included.
std::size_t line_size(std::string_view text) {
  const std::size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return text.size();
  return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

std::vector<CsvRow> parse_rows(std::string_view text, const std::string& name, char delimiter,
                               std::size_t line, std::size_t most_rows) {
  Parser parser(delimiter, most_rows);
  while (!text.empty()) {
    const std::size_t size = line_size(text);
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

/// Excel's own word on it, a first line "sep=;".
std::optional<char> told_delimiter(std::string_view text) {
  constexpr std::string_view kTold = "sep=";
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  if (line.size() != kTold.size() + 1 || !line.starts_with(kTold)) return std::nullopt;
  if (kDelimiters.find(line.back()) == std::string_view::npos) return std::nullopt;
  return line.back();
}

/// The first row with anything in it, quoted line breaks included.
std::string_view first_row(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && (text[i] == '\r' || text[i] == '\n')) return text.substr(0, i);
  }
  return text;
}

bool is_known(std::string_view row, char delimiter, const CsvOptions& options) {
  try {
    const auto rows = parse_rows(row, "", delimiter, 1, 1);
    return !rows.empty() && options.knows(rows.front().fields);
  } catch (const CsvError&) {
    return false;
  }
}

char delimiter_of(std::string_view text, const CsvOptions& options) {
  const std::string_view row = first_row(text);
  std::map<char, std::size_t> counts;
  bool quoted = false;
  for (const char c : row) {
    if (c == '"') quoted = !quoted;
    if (!quoted) ++counts[c];
  }
  char most = kDelimiters.front();
  for (const char delimiter : kDelimiters) {
    if (options.knows && is_known(row, delimiter, options)) return delimiter;
    if (counts[delimiter] > counts[most]) most = delimiter;
  }
  return most;
}

bool is_utf8(const std::string& field) {
  constexpr std::string_view kReplacement = "\uFFFD";
  return field.find(kReplacement) != std::string::npos ||
         sanitize(field).find(kReplacement) == std::string::npos;
}

}  // namespace

CsvFile read_csv(std::string_view text, const std::string& name, const CsvOptions& options) {
  for (const std::string_view mark : kWideMarks) {
    if (!text.starts_with(mark)) continue;
    throw CsvError(fmt::format(
        "{}: the table is in UTF-16; save it as \"CSV UTF-8\" in the spreadsheet", name));
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const auto delimiter = told_delimiter(text)) {
    const std::string_view table = text.substr(line_size(text));
    return {*delimiter, parse_rows(table, name, *delimiter, 2, options.most_rows)};
  }
  const char delimiter = delimiter_of(text, options);
  return {delimiter, parse_rows(text, name, delimiter, 1, options.most_rows)};
}

void require_utf8(const CsvFile& file, const std::string& name) {
  for (const CsvRow& row : file.rows) {
    if (std::ranges::all_of(row.fields, is_utf8)) continue;
    throw CsvError(fmt::format(
        "{}:{}: the row is not in UTF-8; save the table as \"CSV UTF-8\" in the spreadsheet", name,
        row.line));
  }
}

std::optional<double> decimal_of(std::string_view field, char delimiter) {
  std::string number(field);
  if (delimiter != ',') std::ranges::replace(number, ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string to_csv(const CsvTable& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += to_field(row[i]);
    }
    // A line with nothing on it is no row.
    if (row.size() == 1 && row.front().empty()) text += "\"\"";
    text += "\r\n";
  }
  return text;
}

}  // namespace rooflab
