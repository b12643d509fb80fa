#include "grader/batch/intake/gradescope.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "grader/spec/json_bounds.h"

namespace rooflab {
namespace {

constexpr const char* kExport = "submission_metadata.yml";
constexpr const char* kAutograder = "submission_metadata.json";
constexpr std::size_t kLongestRecord = std::size_t{4} << 20;
constexpr std::size_t kLongestValue = 400;
constexpr std::size_t kMostPeople = 100;

/// The lines of one top-level key; results of tests can make a whole export many megabytes.
std::string_view section_of(std::string_view text, const std::string& key) {
  const std::string heading = key + ":";
  std::size_t begin = 0;
  if (!text.starts_with(heading)) {
    begin = text.find("\n" + heading);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  const auto line_after = [&](std::size_t at) {
    return std::min(text.find('\n', at), text.size() - 1) + 1;
  };
  std::size_t end = line_after(begin);
  // A list may stand below its key without being indented.
  while (end < text.size() && (text[end] == ' ' || text[end] == '\n' || text[end] == '\r' ||
                               text.substr(end).starts_with("- "))) {
    end = line_after(end);
  }
  return text.substr(begin, end - begin);
}

std::size_t indentation_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Of a record, its heading and the keys that are read, with all that stands below them. What tests
/// printed, a student's own words, stands there too, and no parser of ours is to see it.
std::string keys_of(std::string_view section) {
  constexpr std::string_view kRead[] = {":created_at:", ":submitters:"};
  std::string kept;
  std::optional<std::size_t> level;  // of the record's keys
  bool keeps = true;
  while (!section.empty()) {
    const std::size_t size = std::min(section.find('\n'), section.size() - 1) + 1;
    const std::string_view line = section.substr(0, size);
    section.remove_prefix(size);
    const std::size_t indentation = indentation_of(line);
    const std::string_view words = line.substr(indentation);
    if (!kept.empty() && !level && !words.empty() && words != "\n") level = indentation;
    // A list may stand below its key without being indented.
    if (level && indentation <= *level && words.starts_with(':')) {
      keeps = std::ranges::any_of(kRead, [&](auto key) { return words.starts_with(key); });
    }
    if (keeps) kept += line;
  }
  return kept;
}

std::string short_text(std::string text) {
  if (text.size() > kLongestValue) text.clear();  // nobody is called so
  return text;
}

std::string scalar(const YAML::Node& record, const char* key) {
  if (!record.IsMap()) return "";
  const YAML::Node node = record[key];
  return node.IsDefined() && node.IsScalar() ? short_text(node.Scalar()) : "";
}

/// Ruby writes a time as itself, or as an object that has it in UTC.
std::optional<std::int64_t> yaml_time(const YAML::Node& record) {
  const YAML::Node node = record[":created_at"];
  if (!node.IsDefined()) return std::nullopt;
  return parse_time(node.IsMap() ? scalar(node, "utc") : scalar(record, ":created_at"));
}

void add_person(GradescopeRecord& record, StudentHints hints) {
  const bool says_who = !hints.name.empty() || !hints.email.empty() || !hints.sis_id.empty();
  if (!says_who) return;
  const bool is_first =
      record.hints.name.empty() && record.hints.email.empty() && record.hints.sis_id.empty();
  if (is_first) {
    record.hints = std::move(hints);
  } else {
    record.partners.push_back(std::move(hints));
  }
}

std::optional<GradescopeRecord> record_of(const YAML::Node& record) {
  if (!record.IsDefined() || !record.IsMap()) return std::nullopt;
  GradescopeRecord result;
  result.created_at = yaml_time(record);
  const YAML::Node people = record[":submitters"];
  if (people.IsDefined() && people.IsSequence()) {
    for (std::size_t i = 0; i < std::min(people.size(), kMostPeople); ++i) {
      StudentHints hints;
      hints.name = scalar(people[i], ":name");
      hints.sis_id = scalar(people[i], ":sid");
      hints.email = scalar(people[i], ":email");
      add_person(result, std::move(hints));
    }
  }
  return result;
}

std::string json_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return short_text(found->get<std::string>());
  return found->is_number_integer() ? found->dump() : "";
}

/// Takes a number of exactly so many digits, and what has to follow it.
bool take_number(std::string_view& text, std::size_t digits, std::string_view after, int& number) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc() || end != text.data() + digits || number < 0) return false;
  text.remove_prefix(digits);
  if (after.empty()) return true;
  if (text.empty() || after.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// "Z", "UTC", "+01:00", "+0100": seconds east of Greenwich.
std::optional<int> zone_of(std::string_view text) {
  if (text == "Z" || text == "UTC") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!take_number(text, 2, "", hours)) return std::nullopt;
  if (text.starts_with(':')) text.remove_prefix(1);
  if (!take_number(text, 2, "", minutes) || !text.empty()) return std::nullopt;
  if (hours > 14 || minutes > 59) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

}  // namespace

bool is_gradescope_metadata(const std::string& name) {
  return name == kExport || name == kAutograder;
}

bool has_gradescope_metadata(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / kExport, error));
}

std::optional<GradescopeRecord> read_export_metadata(std::string_view text,
                                                     const std::string& submission) {
  const std::string_view section = section_of(text, submission);
  const std::string record = keys_of(section);
  if (record.empty() || record.size() > kLongestRecord) return std::nullopt;
  try {
    const YAML::Node all = YAML::Load(record);
    return all.IsMap() ? record_of(all[submission]) : std::nullopt;
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
}

std::optional<GradescopeRecord> read_autograder_metadata(std::string_view text) {
  if (text.size() > kLongestRecord || json_nests_too_deep(text)) return std::nullopt;
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object()) return std::nullopt;
  GradescopeRecord record;
  record.created_at = parse_time(json_text(all, "created_at"));
  const auto people = all.find("users");
  if (people != all.end() && people->is_array()) {
    for (std::size_t i = 0; i < std::min(people->size(), kMostPeople); ++i) {
      if (!(*people)[i].is_object()) continue;
      StudentHints hints;
      hints.name = json_text((*people)[i], "name");
      hints.email = json_text((*people)[i], "email");
      hints.sis_id = json_text((*people)[i], "sid");
      add_person(record, std::move(hints));
    }
  }
  return record;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const bool numbers = take_number(text, 4, "-", year) && take_number(text, 2, "-", month) &&
                       take_number(text, 2, " T", day) && take_number(text, 2, ":", hour) &&
                       take_number(text, 2, ":", minute) && take_number(text, 2, "", second);
  if (!numbers || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto zone = zone_of(text);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!zone || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + minute * 60 + second - *zone;
}

}  // namespace rooflab
