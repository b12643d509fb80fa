#include "grader/report/logged_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "grader/spec/fnv1a.h"
#include "grader/spec/json_bounds.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kLongestName = 200;  ///< of a task, a device, a counter or a file
constexpr std::size_t kMostNumbers = 300;
constexpr std::size_t kMostFiles = 16;

/// A short text; nothing where there is none.
std::optional<std::string> name_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  auto name = found->get<std::string>();
  if (name.size() > kLongestName) return std::nullopt;
  return name;
}

/// A finite number that is not negative.
std::optional<double> number_of(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

std::map<std::string, double> numbers_in(const json& object, const char* key) {
  std::map<std::string, double> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return numbers;
  for (const auto& [name, value] : found->items()) {
    const auto number = number_of(value);
    if (number && name.size() <= kLongestName) numbers[name] = *number;
    if (numbers.size() == kMostNumbers) break;
  }
  return numbers;
}

/// Nothing unless all of them are files of the part's folder, and not too large.
std::vector<LoggedFile> files_in(const json& object) {
  std::vector<LoggedFile> files;
  std::size_t size = 0;
  const auto found = object.find("files");
  if (found == object.end() || !found->is_array() || found->size() > kMostFiles) return {};
  for (const json& one : *found) {
    if (!one.is_object() || !one.contains("text") || !one.at("text").is_string()) return {};
    const auto name = name_in(one, "name");
    if (!name || name->find('/') != std::string::npos) return {};
    files.push_back({*name, one.at("text").get<std::string>()});
    if (files.back().text.find('\0') != std::string::npos) return {};
    size += files.back().text.size();
  }
  return size <= kLargestVersion ? files : std::vector<LoggedFile>();
}

std::optional<LoggedRun> run_in(const json& object) {
  if (!object.is_object() || !object.contains("version") || !object.contains("time_us")) return {};
  const auto version = number_of(object.at("version"));
  const auto time_us = number_of(object.at("time_us"));
  const auto task = name_in(object, "task");
  if (!version || !time_us || !task || !(*time_us > 0)) return {};
  if (!(*version >= 1 && *version <= kLastVersion) || *version != std::floor(*version)) return {};
  LoggedRun run;
  run.version = static_cast<int>(*version);
  run.task = *task;
  run.time_us = *time_us;
  run.device = name_in(object, "device").value_or("");
  run.timed = name_in(object, "timed").value_or("");
  run.limiter = name_in(object, "limiter").value_or("");
  const auto efficiency = object.find("efficiency");
  if (efficiency != object.end()) run.efficiency = number_of(*efficiency).value_or(0);
  run.measures = numbers_in(object, "measures");
  run.counters = numbers_in(object, "counters");
  run.files = files_in(object);
  return run;
}

}  // namespace

std::string hash_of(const std::vector<LoggedFile>& files) {
  std::string all;
  for (const LoggedFile& file : files) all += file.name + '\0' + file.text + '\0';
  return fmt::format("{:016x}", fnv1a(all));
}

std::vector<LoggedRun> logged_runs_in(const std::string& text) {
  if (text.size() > kLargestFile || json_nests_too_deep(text)) return {};
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("runs")) return {};
  const json& list = document.at("runs");
  if (!list.is_array()) return {};
  std::vector<LoggedRun> runs;
  for (const json& one : list) {
    if (runs.size() == kMostVersions) break;
    auto run = run_in(one);
    if (!run) continue;
    const bool is_new = std::ranges::find(runs, run->version, &LoggedRun::version) == runs.end();
    if (is_new) runs.push_back(std::move(*run));
  }
  std::ranges::sort(runs, {}, &LoggedRun::version);
  return runs;
}

std::string logged_runs_text(const std::vector<LoggedRun>& runs) {
  using Ordered = nlohmann::ordered_json;
  Ordered list = Ordered::array();
  for (const LoggedRun& run : runs) {
    Ordered files = Ordered::array();
    for (const LoggedFile& file : run.files) {
      files.push_back({{"name", file.name}, {"text", file.text}});
    }
    list.push_back({{"version", run.version},
                    {"task", run.task},
                    {"device", run.device},
                    {"timed", run.timed},
                    {"time_us", run.time_us},
                    {"efficiency", run.efficiency},
                    {"limiter", run.limiter},
                    {"hash", hash_of(run.files)},
                    {"measures", run.measures},
                    {"counters", run.counters},
                    {"files", std::move(files)}});
  }
  const Ordered document{
      {"about", "Written by grader --log: the runs of your work log. Hand it in with the rest."},
      {"runs", std::move(list)}};
  return document.dump(1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace rooflab
