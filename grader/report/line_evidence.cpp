#include "grader/report/line_evidence.h"

#include <algorithm>
#include <string>

#include "grader/report/text.h"

namespace simgpu {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LineCounters, warp_instructions,
                                                thread_instructions, requests, sectors, asked_bytes,
                                                l1_hit_sectors, l2_sectors, dram_bytes,
                                                bank_requests, wavefronts, bank_conflicts, barriers)

}  // namespace simgpu

namespace rooflab {
namespace {

constexpr std::size_t kMostText = 200;  ///< of a line of the source
constexpr double kLeastShare = 0.005;   ///< of the kernels' time

nlohmann::json line_json(const LineCost& line) {
  const simgpu::LineRecord& record = line.record;
  return {{"file", shorten(record.file, kMostText)},
          {"line", record.line},
          {"source", shorten(line.source, kMostText)},
          {"words", shorten(line.words, kMostText)},
          {"time_us", record.time_us},
          {"limiter", record.limiter ? simgpu::name_of(*record.limiter) : ""},
          {"counters", record.counters}};
}

LineCost line_from(const nlohmann::json& j) {
  LineCost line;
  line.record.file = j.at("file").get<std::string>();
  line.record.line = j.at("line").get<std::uint32_t>();
  line.record.time_us = j.at("time_us").get<double>();
  line.record.limiter = simgpu::limiter_named(j.at("limiter").get<std::string>());
  line.record.counters = j.at("counters").get<simgpu::LineCounters>();
  line.source = j.at("source").get<std::string>();
  line.words = j.at("words").get<std::string>();
  return line;
}

}  // namespace

void to_json(nlohmann::json& j, const SourceCosts& costs) {
  j = nullptr;
  if (costs.lines.empty()) return;
  nlohmann::json lines = nlohmann::json::array();
  for (const LineCost& line : costs.lines) {
    const bool is_little = line.record.time_us < kLeastShare * costs.kernels_us;
    if (is_little && !lines.empty()) break;
    if (lines.size() == kMostKeptLines) break;
    lines.push_back(line_json(line));
  }
  j = {{"kernels_us", costs.kernels_us}, {"lines", std::move(lines)}};
}

void from_json(const nlohmann::json& j, SourceCosts& costs) {
  costs = {};
  if (j.is_null()) return;
  costs.kernels_us = j.at("kernels_us").get<double>();
  for (const nlohmann::json& line : j.at("lines")) {
    if (costs.lines.size() == kMostKeptLines) break;
    costs.lines.push_back(line_from(line));
  }
}

}  // namespace rooflab
