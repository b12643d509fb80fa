#include "performance/table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rooflab::performance {
namespace {

std::string us(const std::optional<double>& time) {
  return time ? fmt::format("{:.2f} us", *time) : "-";
}

std::string goal_text(const Line& line) {
  return line.goal > 1 ? fmt::format("{:.2f}x", line.goal)
                       : fmt::format("{:.0f} %", 100 * line.goal);
}

std::string ratio_text(const Line& line) {
  const auto ratio = ratio_of(line);
  if (!ratio) return "-";
  return line.goal > 1 ? fmt::format("{:.2f}x", *ratio) : fmt::format("{:.1f} %", 100 * *ratio);
}

std::string verdict(const Line& line, bool small) {
  const auto ratio = ratio_of(line);
  if (!ratio) return "no reference";
  if (small) return "too small to judge";
  return *ratio >= line.goal ? "reached" : "MISSED";
}

std::string text_of(const Line& line, bool small) {
  const std::string head = fmt::format("{:<25}{:<44}", line.name, line.size);
  if (!line.left_out.empty()) return head + "left out: " + line.left_out + "\n";
  if (!line.mismatch.empty()) return head + "WRONG: " + line.mismatch + "\n";
  return fmt::format("{}{:>14}{:>14}{:>14}{:>10}{:>8}  {:<19}{}\n", head,
                     us(line.times.solution_us), us(line.times.reference_us), us(line.roofline_us),
                     ratio_text(line), goal_text(line), verdict(line, small), line.reference);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json document_of(const Line& line) {
  nlohmann::json document = {{"name", line.name},
                             {"size", line.size},
                             {"reference", line.reference},
                             {"goal", line.goal},
                             {"correct", line.mismatch.empty() && line.left_out.empty()},
                             {"mismatch", line.mismatch},
                             {"left_out", line.left_out}};
  // What is wrong has no time.
  if (document["correct"]) {
    document["solution_us"] = line.times.solution_us;
    document["reference_us"] = or_null(line.times.reference_us);
    document["roofline_us"] = or_null(line.roofline_us);
    document["of_reference"] = or_null(ratio_of(line));
  }
  return document;
}

}  // namespace

std::optional<double> ratio_of(const Line& line) {
  if (!line.times.reference_us || !line.mismatch.empty() || !(line.times.solution_us > 0)) {
    return std::nullopt;
  }
  return *line.times.reference_us / line.times.solution_us;
}

std::string text_of(const Table& table) {
  std::string text = fmt::format(
      "The solutions on {} · times are {} · {} · rooflines of specs/gpus/{}.toml\n"
      "A copy on the device moves {:.0f} GB/s, reads and writes together.{}\n\n"
      "{:<69}{:>14}{:>14}{:>14}{:>10}{:>8}\n",
      table.device, table.time_kind, table.versions, table.gpu, table.copy_gb_per_second,
      table.small ? " Sizes are small: this shows that the program works, and no speed." : "", "",
      "solution", "reference", "roofline", "ratio", "goal");
  for (const Line& line : table.lines) text += text_of(line, table.small);
  return text;
}

std::string json_of(const Table& table) {
  nlohmann::json document = {{"schema", 1},
                             {"device", table.device},
                             {"gpu", table.gpu},
                             {"time_kind", table.time_kind},
                             {"small", table.small},
                             {"versions", table.versions},
                             {"copy_gb_per_second", table.copy_gb_per_second},
                             {"rows", nlohmann::json::array()}};
  for (const Line& line : table.lines) document["rows"].push_back(document_of(line));
  return document.dump(2) + "\n";
}

}  // namespace rooflab::performance
