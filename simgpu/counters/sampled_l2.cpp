#include "simgpu/counters/sampled_l2.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace simgpu {
namespace {

/// Entries that are run without a thought of sampling.
constexpr std::uint64_t kShort = std::uint64_t{1} << 20;
/// Entries of a window, and waves in a grid of several rows: a wave that ends inside a row of the
/// grid loads that row's data once more than one that does not, so several are needed for a mean.
constexpr std::uint64_t kWindowEntries = std::uint64_t{1} << 17;
constexpr std::uint64_t kWindowWaves = 4;
/// The largest difference between two windows, over their DRAM traffic, or over a hundredth of
/// their L2 traffic where that is more: then DRAM has little to do with the time.
constexpr double kAgreement = 0.01;
constexpr double kLittle = 0.01;
/// Shares of the cache's sets that are tried.
constexpr std::array<std::uint32_t, 2> kOneSetIn{16, 4};
/// Standard errors of what some sets tell, and what they may come to, over the same traffic.
constexpr double kErrors = 3, kChance = 0.005;

/// The counts as numbers that can be averaged.
using Rates = std::array<double, 3>;

Rates numbers(const L2Cache::Counts& counts) {
  return {static_cast<double>(counts.hits), static_cast<double>(counts.dram_reads),
          static_cast<double>(counts.dram_writes)};
}

Rates difference(const Rates& a, const Rates& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

L2Cache::Counts counts_of(const Rates& rates) {
  L2Cache::Counts counts;
  counts.hits = static_cast<std::uint64_t>(std::llround(rates[0]));
  counts.dram_reads = static_cast<std::uint64_t>(std::llround(rates[1]));
  counts.dram_writes = static_cast<std::uint64_t>(std::llround(rates[2]));
  return counts;
}

class Stretches {
 public:
  Stretches(const KnownTraffic& traffic, std::uint64_t l2_bytes, std::uint32_t one_set_in = 1)
      : traffic_(traffic),
        l2_(l2_bytes, one_set_in),
        resident_(std::max<std::uint64_t>(traffic.resident_blocks, 1)),
        waves_((traffic.blocks + resident_ - 1) / resident_) {}

  L2Cache::Counts whole() {
    run(0, waves_);
    return l2_.counts();
  }

  /// Of a cache some of whose sets are simulated: all waves, taken to all sets. nullopt when chance
  /// may have gone too far.
  std::optional<L2Cache::Counts> from_sets();

  /// nullopt when no stretch can be left out, or windows disagree.
  std::optional<L2Cache::Counts> sampled();

 private:
  struct Window {
    std::uint64_t first = 0, last = 0;  ///< waves
    Rates counts{};
  };

  bool is_thin() const { return l2_.one_in() > 1; }
  void run(std::uint64_t first, std::uint64_t last);
  bool warm_up(std::uint64_t& wave, std::uint64_t limit);
  Window measure(std::uint64_t first, std::uint64_t last);
  std::uint64_t blocks_in(std::uint64_t first, std::uint64_t last) const {
    return std::min(last * resident_, traffic_.blocks) -
           std::min(first * resident_, traffic_.blocks);
  }
  double per_block(const Window& window, std::size_t count) const {
    return window.counts[count] / static_cast<double>(blocks_in(window.first, window.last));
  }
  bool agree(const Window& a, const Window& b) const;

  const KnownTraffic& traffic_;
  L2Cache l2_;
  const std::uint64_t resident_, waves_;
  std::vector<std::unique_ptr<TrafficLog>> logs_;  ///< of a wave
  std::vector<L2Cache::ThinLog> thin_logs_;
};

/// Waves [first, last).
void Stretches::run(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t end = std::min(last * resident_, traffic_.blocks);
  for (std::uint64_t block = first * resident_; block < end;) {
    const std::uint64_t wave_end = std::min(block + resident_, end);
    std::size_t size = 0;
    std::uint64_t entries = 0;
    for (; block < wave_end && entries <= L2Cache::kMostPendingEntries; ++block, ++size) {
      if (size == logs_.size()) logs_.push_back(std::make_unique<TrafficLog>());
      // One log after another in the same place: what is dropped at once stays in the host's cache.
      TrafficLog& log = *logs_[is_thin() ? 0 : size];
      traffic_.log_of(block, log);
      entries += log.entries.size();
      if (!is_thin()) continue;
      if (size == thin_logs_.size()) thin_logs_.emplace_back();
      l2_.thin(log, thin_logs_[size]);
    }
    if (is_thin()) {
      l2_.run_wave(std::span<const L2Cache::ThinLog>(thin_logs_).first(size));
    } else {
      l2_.run_wave(std::span(logs_).first(size));
    }
  }
}

/// Runs waves from `wave` on until the cache holds nothing older; false when it would take `limit`.
bool Stretches::warm_up(std::uint64_t& wave, std::uint64_t limit) {
  const std::uint64_t until = l2_.fills() + l2_.lines() + l2_.lines() / 8;
  while (l2_.fills() < until) {
    if (wave >= limit) return false;
    run(wave, wave + 1);
    ++wave;
  }
  return true;
}

Stretches::Window Stretches::measure(std::uint64_t first, std::uint64_t last) {
  const Rates before = numbers(l2_.counts());
  run(first, last);
  return {first, last, difference(numbers(l2_.counts()), before)};
}

bool Stretches::agree(const Window& a, const Window& b) const {
  const double dram = per_block(a, 1) + per_block(a, 2);
  const double scale = std::max(dram, kLittle * (per_block(a, 0) + dram));
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    if (std::abs(per_block(a, i) - per_block(b, i)) > kAgreement * scale) return false;
  }
  return true;
}

std::optional<L2Cache::Counts> Stretches::from_sets() {
  run(0, waves_);
  // Misses, not hits: a word that all blocks read makes many hits in one set. All sets together
  // have as many misses as those that were run, times their share.
  const auto misses_of = [](const L2Cache::Counts& counts) {
    const std::uint64_t misses = counts.reads + counts.writes - counts.hits;
    return Rates{static_cast<double>(misses), static_cast<double>(counts.dram_reads),
                 static_cast<double>(counts.dram_writes)};
  };
  constexpr auto kGroups = static_cast<double>(L2Cache::kGroups);
  const auto share = static_cast<double>(l2_.one_in());
  const Rates sampled = misses_of(l2_.counts());
  const auto all = static_cast<double>(traffic_.sectors);
  Rates told{};
  Rates error{};
  for (std::size_t i = 0; i < told.size(); ++i) {
    told[i] = share * sampled[i];
    double squares = 0;
    for (const L2Cache::Counts& group : l2_.groups()) {
      const double off = misses_of(group)[i] - sampled[i] / kGroups;
      squares += off * off;
    }
    error[i] = share * std::sqrt(kGroups / (kGroups - 1) * squares);
  }
  const double most = kChance * std::max(told[1] + told[2], kLittle * all);
  if (!std::ranges::all_of(error, [&](double e) { return kErrors * e <= most; })) {
    return std::nullopt;
  }
  told[0] = all - std::min(told[0], all);
  return counts_of(told);
}

std::optional<L2Cache::Counts> Stretches::sampled() {
  const std::uint64_t per_wave = std::max<std::uint64_t>(traffic_.entries / waves_, 1);
  const std::uint64_t window =
      std::max(traffic_.rows > 1 ? kWindowWaves : 1, kWindowEntries / per_wave);
  std::uint64_t wave = 0;
  if (!warm_up(wave, waves_ / 5) || 5 * wave + 3 * window > waves_ / 4 * 3) return std::nullopt;
  // The empty cache fills faster than one in which data is found again.
  const std::uint64_t most = 2 * wave;

  std::array<Window, 3> windows;
  windows[0] = measure(wave, wave + window);
  const Rates beginning = numbers(l2_.counts());

  wave = waves_ / 2 - most / 2;
  if (!warm_up(wave, wave + most)) return std::nullopt;
  windows[1] = measure(wave, wave + window);

  // The last wave is mostly not full, and shares less of what it reads.
  const std::uint64_t end = waves_ - 1;
  wave = end - window - most;
  if (wave < windows[1].last || !warm_up(wave, end - window)) return std::nullopt;
  windows[2] = measure(wave, end);
  const Window last_wave = measure(end, waves_);
  if (!agree(windows[0], windows[1]) || !agree(windows[1], windows[2])) return std::nullopt;

  Rates sums = beginning;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += windows[1].counts[i] + windows[2].counts[i] + last_wave.counts[i];
    for (std::size_t k = 1; k < windows.size(); ++k) {
      const double rate = (per_block(windows[k - 1], i) + per_block(windows[k], i)) / 2;
      sums[i] += rate * static_cast<double>(blocks_in(windows[k - 1].last, windows[k].first));
    }
  }
  return counts_of(sums);
}

}  // namespace

L2Cache::Counts run_through_l2(const KnownTraffic& traffic, std::uint64_t l2_bytes) {
  if (traffic.entries > kShort) {
    if (traffic.even) {
      if (const auto sampled = Stretches(traffic, l2_bytes).sampled()) return *sampled;
    }
    for (const std::uint32_t one_in : kOneSetIn) {
      if (const auto told = Stretches(traffic, l2_bytes, one_in).from_sets()) return *told;
    }
  }
  return Stretches(traffic, l2_bytes).whole();
}

}  // namespace simgpu
