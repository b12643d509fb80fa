#include "grader/pipeline/line_costs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "grader/diagnose/story.h"
#include "simgpu/model/line_words.h"

namespace rooflab {
namespace {

using simgpu::LineRecord;
using Place = std::pair<std::string, std::uint32_t>;

constexpr std::size_t kMostLines = 200;
constexpr std::size_t kMostInstructions = 64;  ///< of a line
constexpr std::size_t kMostCalls = 16;
constexpr std::size_t kMostSource = std::size_t{256} << 10;

template <class Counters>
void add_times(Counters& sum, const Counters& one, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) sum += one;
}

/// A line of several kernels, or of several launches.
struct Sum {
  LineRecord record;
  std::map<simgpu::Limiter, double> by_limiter;

  void add(const LineRecord& line, std::uint64_t launches) {
    const auto times = static_cast<double>(launches);
    record.time_us += times * line.time_us;
    add_times(record.counters, line.counters, launches);
    if (line.limiter) by_limiter[*line.limiter] += times * line.time_us;
    for (const simgpu::CallRecord& call : line.calls) {
      const auto known =
          std::ranges::find(record.calls, call.inlined_at, &simgpu::CallRecord::inlined_at);
      if (known != record.calls.end()) {
        known->time_us += times * call.time_us;
      } else if (record.calls.size() < kMostCalls) {
        record.calls.push_back({call.inlined_at, times * call.time_us});
      }
    }
    for (const simgpu::InstructionRecord& one : line.instructions) {
      if (record.instructions.size() >= kMostInstructions) break;
      record.instructions.push_back(one);
      record.instructions.back().time_us *= times;
    }
  }

  LineRecord take() {
    if (!by_limiter.empty()) {
      record.limiter = std::ranges::max_element(by_limiter, {}, [](const auto& one) {
                         return one.second;
                       })->first;
    }
    std::ranges::stable_sort(record.calls, std::greater{}, &simgpu::CallRecord::time_us);
    return std::move(record);
  }
};

void add_source(const std::string& file, const DiagnoseContext& context, SourceCosts& costs) {
  const auto source = context.sources.find(file);
  if (source == context.sources.end()) return;
  costs.sources[file] = source->second.substr(0, kMostSource);
}

}  // namespace

SourceCosts line_costs(const RunOutcome& outcome, const DiagnoseContext& context) {
  SourceCosts costs;
  if (!outcome.keeps_records) {
    costs.missing =
        "a real GPU's time is not told line by line: that takes the source counters of CUPTI, "
        "which the grader does not read; Nsight Compute shows them (ncu --set full "
        "--import-source yes), and --device sim:<gpu> models them";
    return costs;
  }
  const simgpu::Activity& activity = outcome.activity;
  std::map<std::uint32_t, std::uint64_t> launches;  // by table
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    costs.kernels_us += kernel.time.total_us;
    if (simgpu::lines_of(activity, kernel) != nullptr) ++launches[kernel.line_table];
  }
  std::map<Place, Sum> sums;
  for (const auto& [table, times] : launches) {
    for (const LineRecord& line : activity.line_tables[table - 1].lines) {
      const std::string file = student_path(line.file, context);
      Sum& sum = sums[{file, line.line}];
      sum.record.file = file;
      sum.record.line = line.line;
      sum.add(line, times);
    }
  }
  for (auto& [place, sum] : sums) {
    LineRecord record = sum.take();
    for (simgpu::CallRecord& call : record.calls) {
      for (simgpu::InlinedCall& each : call.inlined_at)
        each.file = student_path(each.file, context);
    }
    const Label label = label_at(record.file, record.line, 0, "", context);
    std::string words = simgpu::words_of(record);
    costs.lines.push_back({std::move(record), label.excerpt, std::move(words)});
  }
  const auto time = [](const LineCost& line) { return line.record.time_us; };
  std::ranges::stable_sort(costs.lines, std::greater{}, time);
  if (costs.lines.size() > kMostLines) costs.lines.resize(kMostLines);
  for (const LineCost& line : costs.lines) add_source(line.record.file, context, costs);
  if (costs.lines.empty()) {
    costs.missing = activity.kernels.empty()
                        ? "the call launched no kernel"
                        : "the call's kernels are not the submission's own: nothing is known of "
                          "their lines";
  }
  return costs;
}

}  // namespace rooflab
