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

/// The counts as numbers that can be averaged: hits and the traffic of DRAM, and then two of each
/// instruction's loads.
using Rates = std::vector<double>;
constexpr std::size_t kCacheRates = 3;

Rates numbers(const L2Cache& cache) {
  const L2Cache::Counts counts = cache.counts();
  Rates rates{static_cast<double>(counts.hits), static_cast<double>(counts.dram_reads),
              static_cast<double>(counts.dram_writes)};
  for (const LoadCounts& loads : cache.loads()) {
    rates.push_back(static_cast<double>(loads.at_l2));
    rates.push_back(static_cast<double>(loads.from_dram));
  }
  return rates;
}

/// sum += times * rates, where the longer one goes on for instructions that load later than others.
void add_times(Rates& sum, const Rates& rates, double times) {
  sum.resize(std::max(sum.size(), rates.size()));
  for (std::size_t i = 0; i < rates.size(); ++i) sum[i] += times * rates[i];
}

Rates difference(Rates a, const Rates& b) {
  add_times(a, b, -1);
  return a;
}

std::uint64_t whole_number(double rate) {
  return static_cast<std::uint64_t>(std::llround(std::max(rate, 0.0)));
}

KnownL2 known_from(const Rates& rates) {
  KnownL2 known;
  known.counts.hits = whole_number(rates[0]);
  known.counts.dram_reads = whole_number(rates[1]);
  known.counts.dram_writes = whole_number(rates[2]);
  for (std::size_t i = kCacheRates; i + 1 < rates.size(); i += 2) {
    known.loads.push_back(
        {.at_l2 = whole_number(rates[i]), .from_dram = whole_number(rates[i + 1])});
  }
  return known;
}

class Stretches {
 public:
  Stretches(const KnownTraffic& traffic, std::uint64_t l2_bytes, std::uint32_t one_set_in = 1)
      : traffic_(traffic),
        l2_(l2_bytes, one_set_in),
        resident_(std::max<std::uint64_t>(traffic.resident_blocks, 1)),
        waves_((traffic.blocks + resident_ - 1) / resident_) {}

  KnownL2 whole() {
    run(0, waves_);
    return {l2_.counts(), l2_.loads()};
  }

  /// Of a cache some of whose sets are simulated: all waves, taken to all sets. nullopt when chance
  /// may have gone too far.
  std::optional<KnownL2> from_sets();

  /// nullopt when no stretch can be left out, or windows disagree.
  std::optional<KnownL2> sampled();

 private:
  struct Window {
    std::uint64_t first = 0, last = 0;  ///< waves
    Rates counts;
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
  const Rates before = numbers(l2_);
  run(first, last);
  return {first, last, difference(numbers(l2_), before)};
}

bool Stretches::agree(const Window& a, const Window& b) const {
  const double dram = per_block(a, 1) + per_block(a, 2);
  const double scale = std::max(dram, kLittle * (per_block(a, 0) + dram));
  for (std::size_t i = 0; i < kCacheRates; ++i) {
    if (std::abs(per_block(a, i) - per_block(b, i)) > kAgreement * scale) return false;
  }
  return true;
}

std::optional<KnownL2> Stretches::from_sets() {
  run(0, waves_);
  // Misses, not hits: a word that all blocks read makes many hits in one set. All sets together
  // have as many misses as those that were run, times their share.
  const auto misses_of = [](const L2Cache::Counts& counts) {
    const std::uint64_t misses = counts.reads + counts.writes - counts.hits;
    return std::array<double, kCacheRates>{static_cast<double>(misses),
                                           static_cast<double>(counts.dram_reads),
                                           static_cast<double>(counts.dram_writes)};
  };
  constexpr auto kGroups = static_cast<double>(L2Cache::kGroups);
  const auto share = static_cast<double>(l2_.one_in());
  const std::array<double, kCacheRates> sampled = misses_of(l2_.counts());
  const auto all = static_cast<double>(traffic_.sectors);
  Rates told(kCacheRates);
  Rates error(kCacheRates);
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
  return KnownL2{known_from(told).counts, l2_.loads()};
}

std::optional<KnownL2> Stretches::sampled() {
  const std::uint64_t per_wave = std::max<std::uint64_t>(traffic_.entries / waves_, 1);
  const std::uint64_t window =
      std::max(traffic_.rows > 1 ? kWindowWaves : 1, kWindowEntries / per_wave);
  std::uint64_t wave = 0;
  if (!warm_up(wave, waves_ / 5) || 5 * wave + 3 * window > waves_ / 4 * 3) return std::nullopt;
  // The empty cache fills faster than one in which data is found again.
  const std::uint64_t most = 2 * wave;

  std::array<Window, 3> windows;
  windows[0] = measure(wave, wave + window);
  const Rates beginning = numbers(l2_);

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
  add_times(sums, windows[1].counts, 1);
  add_times(sums, windows[2].counts, 1);
  add_times(sums, last_wave.counts, 1);
  for (std::size_t k = 1; k < windows.size(); ++k) {
    const Window& before = windows[k - 1];
    const Window& after = windows[k];
    const auto left_out = static_cast<double>(blocks_in(before.last, after.first));
    for (const Window* near : {&before, &after}) {
      const auto blocks = static_cast<double>(blocks_in(near->first, near->last));
      add_times(sums, near->counts, left_out / blocks / 2);
    }
  }
  return known_from(sums);
}

}  // namespace

KnownL2 run_through_l2(const KnownTraffic& traffic, std::uint64_t l2_bytes) {
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
