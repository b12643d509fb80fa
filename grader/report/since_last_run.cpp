#include "grader/report/since_last_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostCounters = 3;
constexpr double kMoved = 1.2;                 ///< times more or less
constexpr double kModelledDifference = 0.005;  ///< of the time
constexpr double kMeasuredDifference = 0.03;   ///< of the time, where its noise is less
constexpr double kPointDifference = 0.05;      ///< a report shows one decimal

/// Something that counters tell of a run.
struct Measure {
  const char* name;
  const char* unit;  ///< what its values are of
  const char* meaning;
  double little;  ///< a difference from 0 that is worth nothing
  std::function<std::optional<double>(const TaskResult&)> value;
  std::function<std::string(double)> format;
};

/// A counter, where the device has it.
std::optional<double> counter(const TaskResult& task, const char* name) {
  const auto found = task.counters.find(name);
  if (found == task.counters.end()) return std::nullopt;
  return found->second;
}

std::function<std::optional<double>(const TaskResult&)> counted(const char* name) {
  return [name](const TaskResult& task) { return counter(task, name); };
}

/// The sum of two counters over the sum of two others, in percent; 0 where there is nothing.
std::optional<double> percent(const TaskResult& task, std::pair<const char*, const char*> part,
                              std::pair<const char*, const char*> whole) {
  double sums[2] = {0, 0};
  for (const auto& [index, names] : {std::pair{0, part}, std::pair{1, whole}}) {
    for (const char* name : {names.first, names.second}) {
      if (name == nullptr) continue;
      const auto value = counter(task, name);
      if (!value) return std::nullopt;
      sums[index] += *value;
    }
  }
  return sums[1] > 0 ? 100 * sums[0] / sums[1] : 0;
}

std::optional<double> dram_multiple(const TaskResult& task) {
  if (task.timings.empty()) return std::nullopt;
  const Timing& timing = task.timings.front();
  if (!timing.dram_bytes.count || !(timing.bytes > 0)) return std::nullopt;
  return *timing.dram_bytes.count / timing.bytes;
}

std::optional<double> launches(const TaskResult& task) {
  return task.timings.empty() ? std::nullopt : task.timings.front().launches.count;
}

std::string as_percent(double value) { return fmt::format("{:.0f} %", value); }
std::string as_multiple(double value) { return fmt::format("{:.1f}x", value); }
std::string as_ratio(double value) { return fmt::format("{:.1f}", value); }

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = {
      {"DRAM bytes", "of the compulsory ones",
       "every byte that crosses DRAM more than once takes bandwidth from the others", 0.05,
       dram_multiple, as_multiple},
      {"launches", "", "each launch costs time in which the GPU may have nothing to do", 0.1,
       launches, format_count},
      {"bank conflicts", "of the shared-memory wavefronts",
       "each conflict is one more turn of the shared memory for the same words", 1,
       [](const TaskResult& task) {
         return percent(task,
                        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
                        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"});
       },
       as_percent},
      {"sectors", "for each load of a warp",
       "32 neighbouring floats fill 4 sectors: more are fetched and hardly used", 0.2,
       counted("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), as_ratio},
      {"sectors", "for each store of a warp",
       "32 neighbouring floats fill 4 sectors: more are written in part", 0.2,
       counted("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"), as_ratio},
      {"loads from shared memory", "",
       "a value that stays in a register need not be loaded for each multiply-add", 64,
       counted("smsp__inst_executed_op_shared_ld.sum"), format_count},
      {"instructions of warps", "", "each takes an issue slot, whatever it does", 64,
       counted("smsp__inst_executed.sum"), format_count},
      {"split branches", "of all branches", "a warp takes both sides of a split, one by one", 1,
       [](const TaskResult& task) {
         return percent(task, {"smsp__sass_branch_targets_threads_divergent.sum", nullptr},
                        {"smsp__inst_executed_op_branch.sum", nullptr});
       },
       as_percent},
      {"warps that fit", "of a full multiprocessor", "more resident warps hide more latency", 2,
       counted("sm__maximum_warps_per_active_cycle_pct"), as_percent},
      {"loads of spilled values", "", "what does not fit into registers goes through the caches",
       64, counted("smsp__inst_executed_op_local_ld.sum"), format_count},
  };
  return all;
}

std::vector<CounterChange> changes(const TaskResult& before, const TaskResult& now) {
  std::vector<std::pair<double, CounterChange>> moved;
  for (const Measure& measure : measures()) {
    const auto old_value = measure.value(before);
    const auto new_value = measure.value(now);
    if (!old_value || !new_value) continue;
    const double factor = (*new_value + measure.little) / (*old_value + measure.little);
    const double distance = std::abs(std::log(factor));
    CounterChange change{measure.name, measure.format(*old_value), measure.format(*new_value),
                         measure.unit, measure.meaning};
    if (!(distance >= std::log(kMoved)) || change.before == change.after) continue;
    moved.emplace_back(distance, std::move(change));
  }
  std::ranges::stable_sort(moved, std::greater(), [](const auto& one) { return one.first; });
  std::vector<CounterChange> most;
  for (auto& [distance, change] : moved) {
    if (most.size() < kMostCounters) most.push_back(std::move(change));
  }
  return most;
}

/// Of two lower bounds nobody knows which time was longer.
bool times_differ(const Timing& before, const Timing& now, bool measured) {
  if (before.at_least && now.at_least) return false;
  const double difference = std::abs(now.time_us - before.time_us);
  if (!measured) return difference > kModelledDifference * before.time_us;
  const double noise = 2 * (before.spread_us + now.spread_us);
  return difference > std::max(noise, kMeasuredDifference * before.time_us);
}

/// "9.6x faster"; a difference of a few percent as that. Of a time that is a lower bound, how much
/// faster or slower at least or at most: where the time before is one, the gain may be larger.
std::string speed_words(const SinceLastRun& since) {
  const double before_us = *since.time_us;
  const double now_us = *since.now_us;
  const double factor = std::max(before_us, now_us) / std::min(before_us, now_us);
  const bool is_faster = now_us < before_us;
  const bool is_bound = since.time_at_least || since.now_at_least;
  const char* bound = !is_bound ? "" : is_faster == since.time_at_least ? "at least " : "at most ";
  return fmt::format("{}{:.{}f}x {}", bound, factor, factor < 2 ? 2 : 1,
                     is_faster ? "faster" : "slower");
}

std::string time_words(double time_us, bool at_least) {
  return (at_least ? ">= " : "") + format_time_us(time_us);
}

/// Names of groups of `there` that pass, and that are in `here` and do not pass in it.
std::vector<std::string> passing_only(const TaskResult& there, const TaskResult& here) {
  std::vector<std::string> names;
  for (const GroupResult& group : there.groups) {
    const auto other = std::ranges::find(here.groups, group.name, &GroupResult::name);
    const bool differs = other != here.groups.end() && other->verdict != Verdict::pass;
    if (group.verdict == Verdict::pass && differs) names.push_back(group.name);
  }
  return names;
}

}  // namespace

std::optional<SinceLastRun> compare_runs(const TaskResult& before, const TaskResult& now,
                                         bool measured) {
  SinceLastRun since;
  since.verdict = before.verdict;
  since.score = before.score;
  if (now.groups.size() > 1) {
    since.won = passing_only(now, before);
    since.lost = passing_only(before, now);
  }
  bool changed = before.verdict != now.verdict || !since.won.empty() || !since.lost.empty() ||
                 std::abs(before.score - now.score) >= kPointDifference;
  const bool same_case = !before.timings.empty() && !now.timings.empty() &&
                         before.timings.front().name == now.timings.front().name;
  if (same_case) {
    const Timing& then = before.timings.front();
    since.timed = then.name;
    if (times_differ(then, now.timings.front(), measured)) {
      since.time_us = then.time_us;
      since.now_us = now.timings.front().time_us;
      since.time_at_least = then.at_least;
      since.now_at_least = now.timings.front().at_least;
      changed = true;
    }
    since.counters = changes(before, now);
    changed = changed || !since.counters.empty();
  }
  if (!changed) return std::nullopt;
  return since;
}

std::string words_of(const SinceLastRun& since, const TaskResult& now, std::size_t counters) {
  std::vector<std::string> parts;
  if (since.verdict != now.verdict) {
    parts.push_back(
        fmt::format("{} -> {}", verdict_words(since.verdict), verdict_words(now.verdict)));
  }
  if (const auto then = format_points(since.score); then != format_points(now.score)) {
    parts.push_back(fmt::format("{} -> {} points", then, format_points(now.score)));
  }
  const auto groups = [&](const std::vector<std::string>& names, const char* what) {
    if (!names.empty()) parts.push_back(fmt::format("newly {}: {}", what, fmt::join(names, ", ")));
  };
  // Of answers that nobody can judge yet it is known that they are there.
  groups(since.won, now.graded_later > 0 ? "answered" : "right");
  groups(since.lost, "lost");
  if (since.time_us && since.now_us) {
    std::string words = fmt::format("{} -> {}", time_words(*since.time_us, since.time_at_least),
                                    time_words(*since.now_us, since.now_at_least));
    if (*since.time_us > 0 && *since.now_us > 0) {
      words += fmt::format(" ({})", speed_words(since));
    }
    parts.push_back(words);
  }
  for (std::size_t i = 0; i < std::min(counters, since.counters.size()); ++i) {
    const CounterChange& change = since.counters[i];
    parts.push_back(fmt::format("{} {} -> {}{}{}", change.name, change.before, change.after,
                                change.unit.empty() ? "" : " ", change.unit));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

}  // namespace rooflab
