#include "simgpu/line_record.h"

namespace simgpu {

LineCounters& operator+=(LineCounters& sum, const LineCounters& other) {
  sum.warp_instructions += other.warp_instructions;
  sum.thread_instructions += other.thread_instructions;
  sum.requests += other.requests;
  sum.sectors += other.sectors;
  sum.asked_bytes += other.asked_bytes;
  sum.l1_hit_sectors += other.l1_hit_sectors;
  sum.l2_sectors += other.l2_sectors;
  sum.dram_bytes += other.dram_bytes;
  sum.bank_requests += other.bank_requests;
  sum.wavefronts += other.wavefronts;
  sum.bank_conflicts += other.bank_conflicts;
  sum.barriers += other.barriers;
  return sum;
}

std::map<std::string, double> by_name(const LineCounters& c) {
  constexpr double kSectorBytes = 32;
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const auto each = [&](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : number(part) / number(whole);
  };
  return {{"warp_instructions", number(c.warp_instructions)},
          {"active_lanes", each(c.thread_instructions, c.warp_instructions)},
          {"requests", number(c.requests)},
          {"sectors", number(c.sectors)},
          {"sectors_per_request", each(c.sectors, c.requests)},
          {"asked_bytes", number(c.asked_bytes)},
          {"l1_bytes", kSectorBytes * number(c.sectors)},
          {"l1_hit_bytes", kSectorBytes * number(c.l1_hit_sectors)},
          {"l2_bytes", kSectorBytes * number(c.l2_sectors)},
          {"dram_bytes", number(c.dram_bytes)},
          {"bank_requests", number(c.bank_requests)},
          {"wavefronts", number(c.wavefronts)},
          {"bank_conflicts", number(c.bank_conflicts)},
          {"barriers", number(c.barriers)}};
}

double barrier_us(const LineRecord& line) {
  double sum = 0;
  for (const InstructionRecord& one : line.instructions) {
    if (one.counters.barriers > 0) sum += one.time_us;
  }
  return sum;
}

}  // namespace simgpu
