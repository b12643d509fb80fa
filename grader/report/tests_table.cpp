#include "grader/report/tests_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr const char* kTogether = "all cases together";
constexpr const char* kLegend =
    "x: refused, .: passes; the implementations stand in the same order";
constexpr std::size_t kNameWidth = 32;

using Row = std::vector<std::string>;

/// Heads, a row for each case, and what they catch together.
std::vector<Row> rows_of(const TestsTable& table) {
  Row heads{"case"}, together{kTogether};
  for (const TestsTable::Group& group : table.groups) {
    heads.push_back(group.name);
    together.push_back(group.marks);
  }
  const bool has_hidden = table.hidden > 0;
  const auto of_hidden = [&](int count) { return fmt::format("{} of {}", count, table.hidden); };
  if (has_hidden) {
    heads.emplace_back("hidden");
    together.push_back(of_hidden(table.hidden_caught));
  }
  std::vector<Row> rows{std::move(heads)};
  for (const TestsTable::Case& one : table.cases) {
    Row row{shorten(one_line(one.name), kNameWidth)};
    row.insert(row.end(), one.marks.begin(), one.marks.end());
    if (has_hidden) row.push_back(of_hidden(one.hidden));
    rows.push_back(std::move(row));
  }
  rows.push_back(std::move(together));
  return rows;
}

/// Groups of which some mistakes pass.
template <typename Look>
void for_each_question(const TestsTable& table, Look look) {
  for (const TestsTable::Group& group : table.groups) {
    if (!group.question.empty()) look(group);
  }
}

}  // namespace

std::vector<std::string> tests_table_lines(const TestsTable& table, std::size_t width) {
  const std::vector<Row> rows = rows_of(table);
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  lines.emplace_back(kLegend);
  for_each_question(table, [&](const TestsTable::Group& group) {
    for (const std::string& line : wrap(fmt::format("{}: {}", group.name, group.question), width)) {
      lines.push_back(line);
    }
  });
  return lines;
}

std::string tests_table_html(const TestsTable& table) {
  const std::vector<Row> rows = rows_of(table);
  const auto row_html = [](const Row& row, const char* tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape_html(row[i]))
                     : fmt::format("<{0}>{1}</{0}>", tag, escape_html(row[i]));
    }
    return html + "</tr>\n";
  };
  std::string html = "<div class=\"wide\"><table class=\"groups\"><thead>" +
                     row_html(rows.front(), "th") + "</thead><tbody>\n";
  for (std::size_t i = 1; i < rows.size(); ++i) html += row_html(rows[i], "td");
  html += fmt::format("</tbody></table></div>\n<p class=\"note\">{}</p>\n", kLegend);
  for_each_question(table, [&](const TestsTable::Group& group) {
    html += fmt::format("<p class=\"help\">{}: {}</p>\n", escape_html(group.name),
                        escape_html(group.question));
  });
  return html;
}

}  // namespace rooflab
