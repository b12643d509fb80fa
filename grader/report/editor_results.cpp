#include "grader/report/editor_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "grader/report/text.h"

namespace rooflab {
namespace {

using simgpu::sarif::Level;
using simgpu::sarif::Place;
using simgpu::sarif::Result;

Level level_of(const Diagnostic& diagnostic, const TaskResult& task) {
  if (diagnostic.code.role() == simgpu::CodeRole::advice) return Level::note;
  const bool costs_nothing =
      task.verdict == Verdict::pass || task.verdict == Verdict::not_applicable;
  // What nobody has written yet is no mistake.
  return costs_nothing || task.verdict == Verdict::not_implemented ? Level::warning : Level::error;
}

std::uint32_t characters(std::string_view bytes) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      bytes, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// A label's column and length count bytes of its line.
Place place_of(const Label& label, const std::string& folder) {
  Place place{.file = folder + "/" + label.file, .line = label.line, .text = one_line(label.text)};
  if (label.line == 0 || label.column == 0) return place;
  const std::string_view line = label.excerpt;
  const std::size_t start = label.column - 1;
  if (start > line.size()) {  // the line is not known
    place.column = label.column;
    place.length = label.length;
    return place;
  }
  place.column = 1 + characters(line.substr(0, start));
  place.length = characters(line.substr(start, label.length));
  return place;
}

std::vector<Place> places_of(const Diagnostic& diagnostic, const TaskResult& task,
                             const EditorPlaces& where) {
  std::vector<Place> places;
  for (const Label& label : diagnostic.labels) {
    if (!label.file.empty()) places.push_back(place_of(label, where.folder));
  }
  const bool is_labelled = !places.empty() && places.front().line == diagnostic.line &&
                           places.front().file == where.folder + "/" + diagnostic.file;
  if (!diagnostic.file.empty() && !is_labelled) {
    places.insert(places.begin(),
                  {.file = where.folder + "/" + diagnostic.file, .line = diagnostic.line});
  }
  const auto file = where.files.find(task.id);
  if (places.empty() && file != where.files.end()) {
    places.push_back({.file = where.folder + "/" + file->second});
  }
  return places;
}

std::vector<std::string> details_of(const Diagnostic& diagnostic) {
  std::vector<std::string> lines;
  for (const std::string& line : diagnostic.evidence) lines.push_back(sanitize(line));
  for (const std::string& note : diagnostic.notes) lines.push_back("note: " + sanitize(note));
  if (!diagnostic.help.empty()) lines.push_back("help: " + sanitize(diagnostic.help));
  return lines;
}

}  // namespace

std::vector<Result> editor_results(const GradeResult& result, const EditorPlaces& places) {
  std::vector<Result> results;
  for (const TaskResult& task : result.tasks) {
    for (const Diagnostic& diagnostic : task.diagnostics) {
      Result one{.code = diagnostic.code,
                 .level = level_of(diagnostic, task),
                 .message = one_line(diagnostic.message),
                 .details = details_of(diagnostic),
                 .places = places_of(diagnostic, task, places),
                 .properties = {{"task", task.id}, {"verdict", name_of(task.verdict)}}};
      if (!diagnostic.groups.empty()) {
        one.properties["groups"] = one_line(fmt::format("{}", fmt::join(diagnostic.groups, ", ")));
      }
      if (!diagnostic.context.empty()) {
        one.properties["context"] = one_line(diagnostic.context);
      }
      results.push_back(std::move(one));
    }
  }
  return results;
}

}  // namespace rooflab
