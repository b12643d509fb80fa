#include "grader/report/since_last_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "grader/report/measures.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostCounters = 3;
constexpr double kModelledDifference = 0.005;  ///< of the time
constexpr double kMeasuredDifference = 0.03;   ///< of the time, where its noise is less
constexpr double kPointDifference = 0.05;      ///< a report shows one decimal

std::vector<CounterChange> changes(const TaskResult& before, const TaskResult& now) {
  std::vector<std::pair<double, CounterChange>> moved;
  for (const Measure& measure : measures()) {
    const auto old_value = measure.value(before);
    const auto new_value = measure.value(now);
    if (!old_value || !new_value) continue;
    CounterChange change{measure.name, measure.format(*old_value), measure.format(*new_value),
                         measure.unit, measure.meaning};
    const double distance = distance_of(*old_value, *new_value, measure.little);
    if (distance < kMovedDistance || change.before == change.after) continue;
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

/// A question that is no group: nobody but a person gives points for it.
bool is_text_question(const CaseResult& one, const TaskResult& task) {
  const auto& groups = task.groups;
  return one.name == one.group &&
         std::ranges::find(groups, one.name, &GroupResult::name) == groups.end();
}

/// Names of groups and questions of `there` that pass, and that are in `here` and do not pass in
/// it.
std::vector<std::string> passing_only(const TaskResult& there, const TaskResult& here) {
  std::vector<std::string> names;
  for (const GroupResult& group : there.groups) {
    const auto other = std::ranges::find(here.groups, group.name, &GroupResult::name);
    const bool differs = other != here.groups.end() && other->verdict != Verdict::pass;
    if (group.verdict == Verdict::pass && differs) names.push_back(group.name);
  }
  for (const CaseResult& one : there.cases) {
    if (one.verdict != Verdict::pass || !is_text_question(one, there)) continue;
    const auto other = std::ranges::find(here.cases, one.name, &CaseResult::name);
    const bool differs = other != here.cases.end() && other->verdict != Verdict::pass;
    if (differs) names.push_back(one.name);
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
