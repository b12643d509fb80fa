#include "grader/report/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "grader/report/text.h"

namespace rooflab {
namespace {

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

bool is_same_word(std::string_view one, std::string_view other) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = {
      {"DRAM bytes", "DRAM bytes", "of the compulsory ones",
       "every byte that crosses DRAM more than once takes bandwidth from the others", 0.05,
       dram_multiple, as_multiple},
      {"launches", "launches", "", "each launch costs time in which the GPU may have nothing to do",
       0.1, launches, format_count},
      {"bank conflicts", "bank conflicts", "of the shared-memory wavefronts",
       "each conflict is one more turn of the shared memory for the same words", 1,
       [](const TaskResult& task) {
         return percent(task,
                        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
                        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"});
       },
       as_percent},
      {"sectors", "sectors per load", "for each load of a warp",
       "32 neighbouring floats fill 4 sectors: more are fetched and hardly used", 0.2,
       counted("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), as_ratio},
      {"sectors", "sectors per store", "for each store of a warp",
       "32 neighbouring floats fill 4 sectors: more are written in part", 0.2,
       counted("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"), as_ratio},
      {"loads from shared memory", "loads from shared memory", "",
       "a value that stays in a register need not be loaded for each multiply-add", 64,
       counted("smsp__inst_executed_op_shared_ld.sum"), format_count},
      {"instructions of warps", "instructions of warps", "",
       "each takes an issue slot, whatever it does", 64, counted("smsp__inst_executed.sum"),
       format_count},
      {"split branches", "split branches", "of all branches",
       "a warp takes both sides of a split, one by one", 1,
       [](const TaskResult& task) {
         return percent(task, {"smsp__sass_branch_targets_threads_divergent.sum", nullptr},
                        {"smsp__inst_executed_op_branch.sum", nullptr});
       },
       as_percent},
      {"warps that fit", "warps that fit", "of a full multiprocessor",
       "more resident warps hide more latency", 2,
       counted("sm__maximum_warps_per_active_cycle_pct"), as_percent},
      {"loads of spilled values", "loads of spilled values", "",
       "what does not fit into registers goes through the caches", 64,
       counted("smsp__inst_executed_op_local_ld.sum"), format_count},
  };
  return all;
}

std::map<std::string, double> measures_of(const TaskResult& task) {
  std::map<std::string, double> known;
  for (const Measure& measure : measures()) {
    if (const auto value = measure.value(task)) known[measure.full_name] = *value;
  }
  return known;
}

std::optional<NamedCounter> named_counter(const std::string& name,
                                          const std::map<std::string, double>& counters) {
  for (const Measure& measure : measures()) {
    if (is_same_word(name, measure.full_name)) return NamedCounter{&measure, measure.full_name};
  }
  if (counters.contains(name)) return NamedCounter{nullptr, name};
  return std::nullopt;
}

std::string format_counter(const NamedCounter& counter, double value) {
  if (counter.measure == nullptr) return format_count(value);
  return counter.measure->format(value);
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const Measure& measure : measures()) names.emplace_back(measure.full_name);
  return names;
}

bool has_moved(const NamedCounter& counter, double before, double now) {
  constexpr double kLittle = 1e-9;  // of a counter that may be 0
  const double little = counter.measure == nullptr ? kLittle : counter.measure->little;
  return distance_of(before, now, little) >= kMovedDistance;
}

}  // namespace rooflab
