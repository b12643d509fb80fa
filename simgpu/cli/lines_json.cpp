#include "simgpu/cli/lines_json.h"

#include "simgpu/cli/calls_json.h"
#include "simgpu/line_json.h"

namespace simgpu::cli {
namespace {

using nlohmann::json;

json line_json(const LineRecord& line, double whole_us, bool with_instructions) {
  json calls = json::array();
  for (const CallRecord& call : line.calls) {
    calls.push_back({{"inlined_at", calls_json(call.inlined_at)}, {"time_us", call.time_us}});
  }
  json entry = {{"file", line.file},
                {"line", line.line},
                {"time_us", line.time_us},
                {"share", whole_us > 0 ? line.time_us / whole_us : 0},
                {"limiter", line.limiter ? name_of(*line.limiter) : ""},
                {"counters", by_name(line.counters)},
                {"barrier_us", barrier_us(line)},
                {"calls", std::move(calls)}};
  if (!with_instructions) return entry;
  entry["instructions"] = json::array();
  for (const InstructionRecord& one : line.instructions) {
    entry["instructions"].push_back(instruction_json<json>(one, one.text));
  }
  return entry;
}

}  // namespace

nlohmann::json LinesJson::of(const KernelRecord& kernel) {
  json lines = json::array();
  const LineTable* const table = lines_of(activity_, kernel);
  if (table == nullptr || lines_ + table->lines.size() > kMostLines) return lines;
  lines_ += table->lines.size();
  const bool is_first = told_.insert(kernel.line_table).second;
  for (const LineRecord& line : table->lines) {
    lines.push_back(line_json(line, table->time_us, is_first));
  }
  return lines;
}

}  // namespace simgpu::cli
