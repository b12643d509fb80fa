#include "simgpu/model/line_words.h"

#include <fmt/format.h>

#include <algorithm>

#include <string>
#include <vector>

namespace simgpu {
namespace {

constexpr double kBytesOfSector = 32;

double per(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// "4", "3.5"
std::string number(double value) { return fmt::format("{:.3g}", value); }

std::string bytes(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return fmt::format("{:.3g} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.3g} MB", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.3g} kB", value / 1e3);
  return fmt::format("{} bytes", count);
}

std::string of_sectors(const LineCounters& c) {
  constexpr double kMuch = 1.5;
  if (c.requests == 0) return {};
  const double sectors = per(c.sectors, c.requests);
  const double fewest = std::max(1.0, per(c.asked_bytes, c.requests) / kBytesOfSector);
  if (c.asked_bytes > 0 && sectors > kMuch * fewest) {
    return fmt::format("{} sectors for each request, where {} would do", number(sectors),
                       number(fewest));
  }
  return {};
}

std::string of_banks(const LineCounters& c) {
  constexpr double kMuch = 0.5;
  if (per(c.bank_conflicts, c.bank_requests) < kMuch) return {};
  return fmt::format("{} wavefronts for each request to shared memory, where {} would do",
                     number(per(c.wavefronts, c.bank_requests)),
                     number(per(c.wavefronts - c.bank_conflicts, c.bank_requests)));
}

std::string of_lanes(const LineCounters& c) {
  constexpr double kFew = 24;
  const double lanes = per(c.thread_instructions, c.warp_instructions);
  if (c.warp_instructions == 0 || lanes >= kFew) return {};
  return fmt::format("{} of 32 lanes active", number(lanes));
}

std::string of_memory(const LineCounters& c) {
  if (c.requests == 0) return {};
  if (c.dram_bytes > 0) return bytes(c.dram_bytes) + " to and from DRAM";
  if (c.l2_sectors > 0) {
    return bytes(static_cast<std::uint64_t>(kBytesOfSector) * c.l2_sectors) + " to and from L2";
  }
  return {};
}

}  // namespace

std::string words_of(const LineRecord& line) {
  const LineCounters& c = line.counters;
  std::vector<std::string> facts;
  if (line.limiter) {
    facts.push_back(*line.limiter == Limiter::latency ? "waits for its results"
                                                      : words_of(*line.limiter));
  }
  for (std::string fact : {of_banks(c), of_sectors(c), of_lanes(c), of_memory(c)}) {
    if (!fact.empty()) facts.push_back(std::move(fact));
  }
  constexpr std::size_t kMost = 3;
  if (facts.size() > kMost) facts.resize(kMost);
  return fmt::format("{}", fmt::join(facts, "; "));
}

}  // namespace simgpu
