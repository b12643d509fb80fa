#include "grader/report/line_json.h"

#include <optional>
#include <utility>

#include "grader/report/text.h"

namespace rooflab {
namespace {

using Json = nlohmann::ordered_json;

std::string limiter_key(const std::optional<simgpu::Limiter>& limiter) {
  return limiter ? simgpu::name_of(*limiter) : "";
}

Json call_json(const simgpu::CallRecord& call) {
  Json chain = Json::array();
  for (const simgpu::InlinedCall& each : call.inlined_at) {
    chain.push_back({{"function", sanitize(each.function)},
                     {"file", sanitize(each.file)},
                     {"line", each.line}});
  }
  return {{"inlined_at", std::move(chain)}, {"time_us", call.time_us}};
}

Json picture_json(const simgpu::AccessPicture& picture) {
  Json lanes = Json::array();
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

Json instruction_json(const simgpu::InstructionRecord& one) {
  Json json{{"ptx_line", one.ptx_line},
            {"ptx", sanitize(one.text)},
            {"time_us", one.time_us},
            {"limiter", limiter_key(one.limiter)},
            {"counters", simgpu::by_name(one.counters)}};
  if (one.picture) json["access"] = picture_json(*one.picture);
  return json;
}

Json line_json(const LineCost& line, double kernels_us) {
  const simgpu::LineRecord& record = line.record;
  Json calls = Json::array();
  for (const simgpu::CallRecord& call : record.calls) calls.push_back(call_json(call));
  Json instructions = Json::array();
  for (const simgpu::InstructionRecord& one : record.instructions) {
    instructions.push_back(instruction_json(one));
  }
  return {{"file", sanitize(record.file)},
          {"line", record.line},
          {"source", sanitize(line.source)},
          {"time_us", record.time_us},
          {"share", kernels_us > 0 ? record.time_us / kernels_us : 0},
          {"limiter", limiter_key(record.limiter)},
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
