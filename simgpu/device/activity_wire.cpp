#include "simgpu/device/activity_wire.h"

#include <nlohmann/json.hpp>
#include <string>

namespace simgpu {

// One list of members per type serves both directions.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dim3, x, y, z)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InlinedCall, function, file, line, column)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AccessSite, file, line, column, block, thread, warp, action,
                                   inlined_at, by_thread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    KernelCounters, warp_instructions, thread_instructions, instructions_by_class, flops, fadd,
    fmul, ffma, global_load_requests, global_store_requests, global_atomic_requests,
    global_load_sectors, global_store_sectors, global_atomic_sectors, global_load_bytes,
    global_store_bytes, l1_hit_sectors, l1_tag_lookups, l2_read_sectors, l2_write_sectors,
    l2_hit_sectors, dram_read_bytes, dram_write_bytes, shared_load_requests, shared_store_requests,
    shared_load_wavefronts, shared_store_wavefronts, shared_load_bank_conflicts,
    shared_store_bank_conflicts, local_load_requests, local_store_requests, branches,
    divergent_branches, barriers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeBreakdown, total_us, limiter, terms, wave_quantisation,
                                   launch_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelRecord, sequence, name, grid, block, dynamic_shared_bytes,
                                   static_shared_bytes, registers_per_thread,
                                   local_bytes_per_thread, blocks_per_sm, occupancy_limiter,
                                   theoretical_occupancy, start_us, time, counters, failed, sampled,
                                   sampled_blocks, correlation, stream, graph_launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryRecord, sequence, kind, bytes, start_us, time_us,
                                   destination, correlation, stream, graph_launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ApiRecord, sequence, name, start_us, time_us, correlation, error)

// Finding has an optional member, which the macro cannot express.
static void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"code", finding.code},
          {"kind", static_cast<int>(finding.kind)},
          {"kernel", finding.kernel},
          {"where", finding.where},
          {"object", finding.object},
          {"message", finding.message},
          {"occurrences", finding.occurrences}};
  if (finding.other) json["other"] = *finding.other;
}

static void from_json(const nlohmann::json& json, Finding& finding) {
  json.at("code").get_to(finding.code);
  finding.kind = static_cast<FindingKind>(json.at("kind").get<int>());
  json.at("kernel").get_to(finding.kernel);
  json.at("where").get_to(finding.where);
  json.at("object").get_to(finding.object);
  json.at("message").get_to(finding.message);
  json.at("occurrences").get_to(finding.occurrences);
  if (json.contains("other")) finding.other = json.at("other").get<AccessSite>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Activity, kernels, memory, calls, findings, printed, elapsed_us,
                                   allocated, peak_allocated, api_calls, guest_connected, error)

std::vector<std::byte> encode(const Activity& activity) {
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(nlohmann::json(activity));
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

Activity decode_activity(std::span<const std::byte> bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return nlohmann::json::from_cbor(begin, begin + bytes.size()).get<Activity>();
}

}  // namespace simgpu
