#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "simgpu/line_record.h"

/// Pieces of lines as the reports of simgpu and the grader write them; each has a kind of JSON of
/// its own.
namespace simgpu {

/// Lanes that took no part have the offset -1.
template <class Json>
Json access_json(const AccessPicture& picture) {
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

/// @param text of the instruction, as the report may show it
template <class Json>
Json instruction_json(const InstructionRecord& one, std::string text) {
  Json json{{"ptx_line", one.ptx_line},
            {"ptx", std::move(text)},
            {"time_us", one.time_us},
            {"limiter", one.limiter ? name_of(*one.limiter) : ""},
            {"counters", by_name(one.counters)}};
  if (one.picture) json["access"] = access_json<Json>(*one.picture);
  return json;
}

}  // namespace simgpu
