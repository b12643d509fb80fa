#include "grader/diagnose/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestExcerpt = 160;

/// Line `number` (from 1) of a text, cut at the longest excerpt; empty when there is none.
std::string line_of(std::string_view text, std::uint32_t number) {
  for (std::uint32_t i = 1; i < number; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')).substr(0, kLongestExcerpt));
}

/// Columns from `column` to the end of its statement, at least one. The semicolons in the head of a
/// for loop end nothing.
std::uint32_t statement_length(const std::string& line, std::uint32_t column) {
  if (column == 0 || column > line.size()) return 1;
  const std::size_t start = column - 1;
  std::size_t end = start;
  for (int depth = 0; end < line.size() && (line[end] != ';' || depth > 0); ++end) {
    depth += (line[end] == '(') - (line[end] == ')');
  }
  end = std::min(end, line.find_last_not_of(" \t\r") + 1);
  return end > start ? static_cast<std::uint32_t>(end - start) : 1;
}

/// The smallest box of a matrix that holds every wrong element; last before first when none is.
struct WrongBox {
  std::int64_t first_row, last_row = -1, first_column, last_column = -1;
};

WrongBox wrong_box(const TensorCheck& check) {
  const std::int64_t rows = check.shape[0], columns = check.shape[1];
  WrongBox box{.first_row = rows, .first_column = columns};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (!check.wrong[i]) continue;
    box.first_row = std::min(box.first_row, i / columns);
    box.last_row = std::max(box.last_row, i / columns);
    box.first_column = std::min(box.first_column, i % columns);
    box.last_column = std::max(box.last_column, i % columns);
  }
  return box;
}

/// A word on where the wrong elements are, when a simple rule covers them all.
std::string describe_places(const TensorCheck& check) {
  const bool some = !check.index.empty();
  if (check.wrong_count == check.wrong.size()) {
    return some ? "every element that was compared is wrong" : "every element is wrong";
  }
  if (check.shape.size() != 2 || some) return {};
  if (const auto tail = wrong_tail(check)) {
    return fmt::format("exactly the {} from {} on", tail->rows ? "rows" : "columns", tail->first);
  }
  const WrongBox box = wrong_box(check);
  if (box.first_row == box.last_row) return fmt::format("all in row {}", box.first_row);
  if (box.first_column == box.last_column) return fmt::format("all in column {}", box.first_column);
  return {};
}

/// At most 16 x 48 cells, each x if any element under it is wrong; empty when that is all of them,
/// since then there is nothing to see.
std::vector<std::string> draw_map(const TensorCheck& check) {
  if (check.shape.empty() || check.wrong.empty() || !check.index.empty()) return {};
  const std::int64_t columns = check.shape.back();
  const std::int64_t rows = static_cast<std::int64_t>(check.wrong.size()) / columns;
  if (rows * columns < 2) return {};
  const std::int64_t map_rows = std::min<std::int64_t>(rows, 16),
                     map_columns = std::min<std::int64_t>(columns, 48);
  std::vector<std::string> map(map_rows, std::string(map_columns, '.'));
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (check.wrong[i])
      map[(i / columns) * map_rows / rows][(i % columns) * map_columns / columns] = 'x';
  }
  const auto shows_a_right_one = [](const std::string& row) {
    return row.find('.') != std::string::npos;
  };
  if (std::none_of(map.begin(), map.end(), shows_a_right_one)) map.clear();
  return map;
}

/// What an element holds. The grader's filling is no value, and a NaN's sign means nothing.
std::string got_text(const TensorCheck& check, std::size_t index) {
  if (check.unwritten[index]) return "never written";
  return number_text(check.got[index]);
}

std::string element_line(const char* which, const TensorCheck& check, std::size_t index) {
  return fmt::format("{} {:<12} expected {:>13.6g}   got {:>13}   tolerance {:.2g}", which,
                     element_name(check, check.index.empty() ? index : check.index[index]),
                     check.expected[index], got_text(check, index), check.tolerance[index]);
}

std::size_t worst_element(const TensorCheck& check) {
  std::size_t worst = 0;
  double largest = -1;
  for (std::size_t i = 0; i < check.wrong.size(); ++i) {
    const double error = std::abs(check.got[i] - check.expected[i]);
    // A NaN compares false, so it never becomes the worst: the first element shows it.
    if (check.wrong[i] && error > largest) {
      largest = error;
      worst = i;
    }
  }
  return largest < 0 ? std::find(check.wrong.begin(), check.wrong.end(), true) - check.wrong.begin()
                     : worst;
}

}  // namespace

std::string element_name(const TensorCheck& check, std::size_t element) {
  std::string subscript;
  for (std::size_t d = check.shape.size(); d-- > 0;) {
    subscript.insert(0, fmt::format("[{}]", element % check.shape[d]));
    element /= check.shape[d];
  }
  return check.tensor + subscript;
}

std::string count_text(std::uint64_t count, std::uint64_t total, const DiagnoseContext& context) {
  if (!context.hidden) return fmt::format("{} of {} elements", count, total);
  return count == total ? "all elements" : "some elements";
}

std::optional<WrongTail> wrong_tail(const TensorCheck& check) {
  if (check.shape.size() != 2 || !check.index.empty() || check.wrong_count == 0) {
    return std::nullopt;
  }
  const std::int64_t rows = check.shape[0], columns = check.shape[1];
  const WrongBox box = wrong_box(check);
  const auto fills = [&](std::int64_t wrong_rows, std::int64_t wrong_columns) {
    return check.wrong_count == static_cast<std::uint64_t>(wrong_rows * wrong_columns);
  };
  if (box.last_row == rows - 1 && fills(rows - box.first_row, columns)) {
    return WrongTail{true, box.first_row};
  }
  if (box.last_column == columns - 1 && fills(rows, columns - box.first_column)) {
    return WrongTail{false, box.first_column};
  }
  return std::nullopt;
}

std::string number_text(double value, int digits) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.{}g}", value, digits);
}

std::string coordinates(const simgpu::Dim3& index) {
  return index.z == 0 ? fmt::format("({},{})", index.x, index.y)
                      : fmt::format("({},{},{})", index.x, index.y, index.z);
}

std::string kernel_name(const std::string& demangled) {
  std::string name = demangled;
  // Students put kernels into unnamed namespaces; the parenthesis of those opens no parameters.
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.erase(at, kUnnamed.size());
  }
  name.resize(std::min(name.find('('), name.size()));
  // A template's demangled name starts with its return type.
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

std::string student_path(const std::string& file, const DiagnoseContext& context) {
  const fs::path path(file);
  if (path.filename() == fs::path(context.file).filename()) return context.file;
  const fs::path relative = path.lexically_relative(context.submission);
  if (!relative.empty() && *relative.begin() != "..") return relative.string();
  return path.filename().string();
}

Label label_at(const std::string& file, std::uint32_t line, std::uint32_t column,
               const std::string& text, const DiagnoseContext& context) {
  Label label;
  label.file = student_path(file, context);
  label.line = line;
  label.text = text;
  const auto source = context.sources.find(label.file);
  if (source != context.sources.end() && line > 0) label.excerpt = line_of(source->second, line);
  const std::size_t first = label.excerpt.find_first_not_of(" \t");
  if (first == std::string::npos) return label;
  // Tabs count as one column for compilers, so the underline must stand under one character each.
  std::replace(label.excerpt.begin(), label.excerpt.end(), '\t', ' ');
  label.column =
      column > 0 && column <= label.excerpt.size() ? column : static_cast<std::uint32_t>(first + 1);
  label.length = statement_length(label.excerpt, label.column);
  return label;
}

Diagnostic begin_story(Code code, const DiagnoseContext& context) {
  Diagnostic story;
  story.code = code;
  story.file = context.file;
  const std::string task = fmt::format("grader --part {} --task {}", context.part, context.task);
  story.commands.emplace_back("next hint", task + " --hint");
  if (context.case_number > 0) {
    story.commands.emplace_back(
        "this case",
        fmt::format("{} --case {} --seed {}", task, context.case_number, text_of(context.seed)));
  }
  story.commands.emplace_back("concept", "grader explain " + code.text());
  return story;
}

void note_hidden(Diagnostic& story) {
  const std::string note =
      "this case is hidden: its sizes and values are not shown; the public cases can be replayed";
  if (std::ranges::find(story.notes, note) == story.notes.end()) story.notes.push_back(note);
}

void add_effect(Diagnostic& story, const TensorCheck& check, const DiagnoseContext& context) {
  if (check.wrong_count == 0) return;
  std::string line = fmt::format(
      "{} of {} differ", count_text(check.wrong_count, check.wrong.size(), context), check.tensor);
  if (!context.case_name.empty()) line += fmt::format(", case {}", context.case_name);
  const std::string places = context.hidden ? "" : describe_places(check);
  if (!places.empty()) line += "; " + places;
  story.evidence.push_back(line);
  if (context.hidden) {
    note_hidden(story);
    return;
  }
  const std::size_t first =
      std::find(check.wrong.begin(), check.wrong.end(), true) - check.wrong.begin();
  const std::size_t worst = worst_element(check);
  story.evidence.push_back(element_line("first", check, first));
  if (worst != first) story.evidence.push_back(element_line("worst", check, worst));
  story.pattern = draw_map(check);
}

}  // namespace rooflab
