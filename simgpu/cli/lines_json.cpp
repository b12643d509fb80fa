#include "simgpu/cli/lines_json.h"

#include "simgpu/cli/calls_json.h"

namespace simgpu::cli {
namespace {

using nlohmann::json;

std::string limiter_name(const std::optional<Limiter>& limiter) {
  return limiter ? name_of(*limiter) : "";
}

json picture_json(const AccessPicture& picture) {
  json lanes = json::array();
  for (std::size_t lane = 0; lane < picture.offsets.size(); ++lane) {
    const bool takes_part = (picture.mask >> lane & 1U) != 0;
    lanes.push_back(takes_part ? static_cast<std::int64_t>(picture.offsets[lane]) : -1);
  }
  return {{"space", picture.is_shared ? "shared" : "global"},
          {"block", picture.block},
          {"warp", picture.warp},
          {"bytes", picture.bytes},
          {"offsets", std::move(lanes)},
          {"transactions", picture.transactions},
          {"fewest", picture.fewest}};
}

json instruction_json(const InstructionRecord& one) {
  json entry = {{"ptx_line", one.ptx_line},
                {"ptx", one.text},
                {"time_us", one.time_us},
                {"limiter", limiter_name(one.limiter)},
                {"counters", by_name(one.counters)}};
  if (one.picture) entry["access"] = picture_json(*one.picture);
  return entry;
}

json line_json(const LineRecord& line, double whole_us, bool with_instructions) {
  json calls = json::array();
  for (const CallRecord& call : line.calls) {
    calls.push_back({{"inlined_at", calls_json(call.inlined_at)}, {"time_us", call.time_us}});
  }
  json entry = {{"file", line.file},
                {"line", line.line},
                {"time_us", line.time_us},
                {"share", whole_us > 0 ? line.time_us / whole_us : 0},
                {"limiter", limiter_name(line.limiter)},
                {"counters", by_name(line.counters)},
                {"barrier_us", barrier_us(line)},
                {"calls", std::move(calls)}};
  if (!with_instructions) return entry;
  entry["instructions"] = json::array();
  for (const InstructionRecord& one : line.instructions) {
    entry["instructions"].push_back(instruction_json(one));
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
