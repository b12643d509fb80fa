#include "grader/spec/course_calendar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace rooflab {
namespace {

std::vector<int> numbers_in(const PartFolders& found) {
  std::vector<int> numbers;
  for (const auto& [number, folder] : found.parts) numbers.push_back(number);
  return numbers;
}

std::optional<std::vector<int>> read_parts(TableReader& reader, const PartFolders& found) {
  const auto listed = reader.maybe_integers("parts");
  if (!listed) return std::nullopt;
  if (listed->empty()) {
    throw reader.error("parts", "the course lists no part",
                       "write the numbers of its parts, or leave the line out for all of them");
  }
  std::vector<int> parts;
  for (const std::int64_t number : *listed) {
    const bool exists =
        number >= 0 && number <= kLastPart && found.parts.contains(static_cast<int>(number));
    if (!exists && found.broken) throw SpecError(*found.broken);  // it may be that one
    if (!exists) {
      throw reader.error("parts", fmt::format("there is no part {}", number),
                         fmt::format("labs/ has the parts {}; list some of them",
                                     fmt::join(numbers_in(found), ", ")));
    }
    if (std::ranges::find(parts, number) != parts.end()) {
      throw reader.error("parts", fmt::format("part {} stands there twice", number),
                         "list each part once");
    }
    parts.push_back(static_cast<int>(number));
  }
  std::ranges::sort(parts);
  return parts;
}

/// The number in "part1".
std::optional<int> part_in(std::string_view key) {
  constexpr std::string_view kPrefix = "part";
  if (!key.starts_with(kPrefix)) return std::nullopt;
  key.remove_prefix(kPrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const bool is_number = error == std::errc() && end == key.data() + key.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

PartDates read_dates(const toml::table& table, const std::filesystem::path& file,
                     const std::string& name) {
  TableReader reader(table, file, name);
  PartDates dates{.opens = reader.maybe_moment("opens"), .due = reader.maybe_moment("due")};
  reader.finish();
  if (!dates.opens && !dates.due) {
    throw reader.error("due", fmt::format("{} has no date", name),
                       "write opens = or due = with a date, as in 2027-02-15T23:59:00+01:00");
  }
  if (dates.opens && dates.due && dates.due->seconds <= dates.opens->seconds) {
    throw reader.error("due", fmt::format("{} is due before it opens", name),
                       "write a later `due` or an earlier `opens`");
  }
  return dates;
}

void read_calendar(const toml::table& calendar, const std::filesystem::path& file,
                   const std::vector<int>& parts, CourseSpec& course) {
  for (const auto& [key, node] : calendar) {
    const std::string name = fmt::format("[calendar.{}]", std::string_view(key.str()));
    const auto part = part_in(key.str());
    if (!part || std::ranges::find(parts, *part) == parts.end() || !node.is_table()) {
      throw spec_error(file, node, name + " is no part of the course",
                       fmt::format("write [calendar.part{}] with opens = and due =; the parts are "
                                   "{}",
                                   parts.empty() ? 1 : parts.front(), fmt::join(parts, ", ")));
    }
    if (course.calendar.contains(*part)) {  // part1 and part01
      throw spec_error(file, node, fmt::format("{}: part {} has dates already", name, *part),
                       "keep one of the two");
    }
    course.calendar[*part] = read_dates(*node.as_table(), file, name);
  }
}

}  // namespace

void read_parts_and_calendar(TableReader& reader, const std::filesystem::path& labs,
                             CourseSpec& course) {
  if (!reader.has("parts") && !reader.has("calendar")) return;
  const PartFolders found = find_part_folders(labs);
  course.parts = read_parts(reader, found);
  reader.maybe("calendar", [&](const toml::table& calendar) {
    read_calendar(calendar, reader.file(), course.parts.value_or(numbers_in(found)), course);
  });
}

PartDates dates_of(const CourseSpec& course, int part) {
  const auto found = course.calendar.find(part);
  return found == course.calendar.end() ? PartDates{} : found->second;
}

std::string dates_in_words(const PartDates& dates, std::int64_t now) {
  std::string words;
  if (!dates.is_open(now)) words = "opens " + text_of(*dates.opens);
  if (dates.due) words += (words.empty() ? "due " : ", due ") + text_of(*dates.due);
  return words;
}

}  // namespace rooflab
