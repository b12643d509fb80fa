#include "grader/report/line_json.h"

#include <utility>

#include "grader/report/text.h"
#include "simgpu/line_json.h"

namespace rooflab {
namespace {

using Json = nlohmann::ordered_json;

Json call_json(const simgpu::CallRecord& call) {
  Json chain = Json::array();
  for (const simgpu::InlinedCall& each : call.inlined_at) {
    chain.push_back({{"function", sanitize(each.function)},
                     {"file", sanitize(each.file)},
                     {"line", each.line}});
  }
  return {{"inlined_at", std::move(chain)}, {"time_us", call.time_us}};
}

Json line_json(const LineCost& line, double kernels_us) {
  const simgpu::LineRecord& record = line.record;
  Json calls = Json::array();
  for (const simgpu::CallRecord& call : record.calls) calls.push_back(call_json(call));
  Json instructions = Json::array();
  for (const simgpu::InstructionRecord& one : record.instructions) {
    instructions.push_back(simgpu::instruction_json<Json>(one, sanitize(one.text)));
  }
  return {{"file", sanitize(record.file)},
          {"line", record.line},
          {"source", sanitize(line.source)},
          {"time_us", record.time_us},
          {"share", kernels_us > 0 ? record.time_us / kernels_us : 0},
          {"limiter", record.limiter ? simgpu::name_of(*record.limiter) : ""},
          {"says", line.words},
          {"counters", simgpu::by_name(record.counters)},
          {"barrier_us", simgpu::barrier_us(record)},
          {"calls", std::move(calls)},
          {"instructions", std::move(instructions)}};
}

}  // namespace

void add_lines(const SourceCosts& costs, Json& timing) {
  if (!costs.missing.empty()) timing["lines_missing"] = costs.missing;
  if (costs.lines.empty()) return;
  timing["lines"] = Json::array();
  for (const LineCost& line : costs.lines) {
    timing["lines"].push_back(line_json(line, costs.kernels_us));
  }
}

}  // namespace rooflab
