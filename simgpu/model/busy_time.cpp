#include "simgpu/model/busy_time.h"

#include <algorithm>
#include <vector>

#include "simgpu/arith/elementary.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/warp_path.h"

namespace simgpu::model {
namespace {

/// How sharply the larger of throughput and latency prevails. Overlap is never perfect: where the
/// two are equal a kernel takes 2^(1/4) = 1.19 times either.
constexpr double kSharpness = 4;

/// Two terms that overlap, as the parts of their time that each is due to.
struct Combined {
  double throughput = 0, latency = 0;
  double sum() const { return throughput + latency; }
};

Combined combine(double throughput, double latency, double sharpness = kSharpness) {
  const double larger = std::max(throughput, latency);
  if (larger <= 0) return {};
  const double t = arith::power_f64(throughput / larger, sharpness);
  const double l = arith::power_f64(latency / larger, sharpness);
  const double time = larger * arith::power_f64(t + l, 1 / sharpness);
  return {time * t / (t + l), time * l / (t + l)};
}

/// The share of a warp's time, by machine code, in which it waits for what DRAM serves: how much of
/// its way grows longer when DRAM has much to do.
double share_of_dram(const Work& work) {
  if (work.control.empty()) return 1;
  const std::vector<double> shares = waited_for(work, false);
  double share = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0 || !loads_from_global(work.program[i].cls)) continue;
    share += shares[i] * far_shares(i, work).from_dram;
  }
  return std::min(1.0, share);
}

/// How sharply DRAM's term prevails over the latency. Accesses wait for each other long before the
/// bandwidth is reached, but nothing waits for a store: with as many reads as writes it is the
/// GPU's number, with writes alone that of all other terms.
double dram_sharpness(const Work& work) {
  if (work.gpu.dram_sharpness >= kSharpness) return kSharpness;
  const auto read = static_cast<double>(work.counters.dram_read_bytes);
  const double all = read + static_cast<double>(work.counters.dram_write_bytes);
  if (all == 0) return kSharpness;
  const double waited_for = std::min(1.0, 2 * read / all) * share_of_dram(work);
  return kSharpness - (kSharpness - work.gpu.dram_sharpness) * waited_for;
}

}  // namespace

double largest_of(const LimiterTimes& terms) {
  double largest = 0;
  for (const auto& [term, time] : terms) {
    if (term != Limiter::latency) largest = std::max(largest, time);
  }
  return largest;
}

double serial_part(const Work& work, double throughput, double stalled) {
  const std::uint64_t resident = work.is_spread
                                     ? work.resident_blocks
                                     : std::min(work.resident_blocks, work.blocks_of_busiest_sm());
  return stalled * throughput / static_cast<double>(resident);
}

BusyTime busy_time(const Work& work, const LimiterTimes& terms, double serial, double latency) {
  const double throughput = largest_of(terms);
  const double busy = serial + combine(throughput - serial, latency).sum();
  const Combined apart = combine(throughput, latency);
  const BusyTime time{apart.throughput, 0, apart.latency, busy - apart.sum()};
  const double sharpness = dram_sharpness(work);
  if (sharpness >= kSharpness) return time;
  const double dram = terms.at(Limiter::dram);
  const double beside = serial + combine(std::max(0.0, dram - serial), latency, sharpness).sum();
  if (beside <= busy) return time;
  const Combined dram_apart = combine(dram, latency, sharpness);
  return {0, dram_apart.throughput, dram_apart.latency, beside - dram_apart.sum()};
}

}  // namespace simgpu::model
