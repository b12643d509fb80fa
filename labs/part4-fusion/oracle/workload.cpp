#include "labs/part4-fusion/oracle/workload.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part4-fusion/oracle/trace.h"

namespace rooflab {
namespace {

// The schedule that profile.h names.
constexpr std::size_t kWait = 1, kWarmup = 3, kActive = 6;
constexpr std::size_t kIterations = kWait + kWarmup + kActive;

/// What the adapter's workload puts on the device, by category. cuBLAS may take more kernels than
/// one for a product.
const std::map<std::string, std::int64_t>& least_counts() {
  static const std::map<std::string, std::int64_t> counts = {
      {"gemm", 2},   {"elementwise", 9}, {"softmax", 1}, {"layernorm", 0},
      {"memory", 2}, {"other", 1},       {"total", 15}};
  return counts;
}

/// What the events of some iterations come to, for one of them.
struct Report {
  std::map<std::string, std::int64_t> counts;
  double device_us = 0, span_us = 0;
  double to_last_start_us = 0;   ///< a span that leaves the last event out
  double from_first_end_us = 0;  ///< one that leaves the first out
  double of_kernels_us = 0;      ///< one that leaves copies and memsets out
  std::string top_kernel;
};

Report report_of(const Trace& trace, std::size_t iterations) {
  Report report;
  std::map<std::string, double> by_kernel;
  const auto n = static_cast<double>(iterations);
  for (const TraceEvent& event : trace) {
    ++report.counts[category_of(event.name)];
    ++report.counts["total"];
    report.device_us += event.duration_us / n;
    if (event.kind == "kernel") by_kernel[event.name] += event.duration_us;
  }
  for (auto& [category, count] : report.counts) count /= static_cast<std::int64_t>(iterations);
  const double start = trace.front().start_us;
  const double end = trace.back().end_us();
  report.span_us = (end - start) / n;
  report.to_last_start_us = (trace.back().start_us - start) / n;
  report.from_first_end_us = (end - trace.front().end_us()) / n;
  const auto last_kernel = std::find_if(
      trace.rbegin(), trace.rend(), [](const TraceEvent& event) { return event.kind == "kernel"; });
  if (last_kernel != trace.rend()) report.of_kernels_us = (last_kernel->end_us() - start) / n;
  const auto top =
      std::ranges::max_element(by_kernel, {}, [](const auto& one) { return one.second; });
  if (top != by_kernel.end()) report.top_kernel = top->first;
  return report;
}

std::vector<Complaint> judge_counts(const std::map<std::string, std::int64_t>& right,
                                    const CallEvidence& evidence, bool at_least) {
  for (const auto& [category, least] : least_counts()) {
    const auto found = right.find(category);
    const std::int64_t count = found == right.end() ? 0 : found->second;
    const auto got = result<std::int64_t>(evidence, category, -1);
    if (got == count || (at_least && got >= least)) continue;
    const auto all = static_cast<std::int64_t>(kActive);
    return {
        {"RL0509",
         (got == all * count ? Sentence("the counts are those of all recorded iterations together")
                             : Sentence("a count is wrong")) +
             Evidence{message("; one iteration has ", count, " device events of the category ",
                              category, ", and the report says ", got)},
         "count the recorded events by category and divide by the iterations of the schedule "
         "that are active"}};
  }
  return {};
}

/// One event more or less hardly shows in a span of many. What a slip gives is told apart from the
/// right value by the nanoseconds that records have.
std::vector<Complaint> judge_ends(const Report& right, double got) {
  constexpr double kNanosecond = 1e-3;
  const auto is = [got](double span_us) { return std::abs(got - span_us) <= kNanosecond; };
  const std::pair<double, const char*> slips[] = {
      {right.to_last_start_us, "the span ends where the last device event starts"},
      {right.from_first_end_us, "the span begins where the first device event ends"},
      {right.of_kernels_us, "the span ends with the last kernel, and leaves out what follows it"}};
  if (is(right.span_us)) return {};
  for (const auto& [span_us, cause] : slips) {
    if (!is(span_us)) continue;
    return {{"RL0509",
             Sentence::of_all_cases(cause) +
                 Evidence{message("; span_us should be ", right.span_us, " us, not ", got)},
             "from the start of the first device event to the end of the last one that ends, "
             "copies and memsets among them, for one iteration"}};
  }
  return {};
}

std::vector<Complaint> judge_times(const Report& right, const CallEvidence& evidence) {
  // Records keep nanoseconds, and how long an iteration spans depends on where one begins.
  constexpr double kClock = 0.01;
  const auto judge = [&](const char* name, double expected,
                         const char* what) -> std::vector<Complaint> {
    const double got = result(evidence, name, std::nan(""));
    if (is_close(got, expected, kClock)) return {};
    const bool all = is_close(got, expected * static_cast<double>(kActive), kClock);
    return {{"RL0509",
             (all ? Sentence("a time is that of all recorded iterations together")
                  : Sentence("a time is wrong")) +
                 Evidence{message(": ", name, " should be ", expected, " us, not ", got)},
             what}};
  };
  auto complaints = judge("device_us", right.device_us,
                          "the durations of device events, added up, for one iteration");
  if (!complaints.empty()) return complaints;
  if (auto slips = judge_ends(right, result(evidence, "span_us", std::nan(""))); !slips.empty()) {
    return slips;
  }
  return judge(
      "span_us", right.span_us,
      "from the start of the first device event to the end of the last, for one iteration");
}

}  // namespace

std::vector<Complaint> judge_workload(const CallEvidence& evidence) {
  if (!evidence.keeps_records) {
    return judge_counts(least_counts(), evidence, true);
  }
  Trace trace = trace_of(evidence.activity);
  const auto calls = static_cast<std::size_t>(std::ranges::count_if(
      trace, [](const TraceEvent& event) { return category_of(event.name) == "softmax"; }));
  const auto events = static_cast<std::size_t>(least_counts().at("total"));
  if (calls != kIterations || trace.size() < kIterations * events) {
    return {{"RL0421",
             "the workload ran too often or too rarely" +
                 Evidence{message(": ", calls, " times, and should run ", kIterations, " times, ",
                                  kWait, " to wait, ", kWarmup, " to warm up and ", kActive,
                                  " recorded")},
             "call rooflab::profile once, with the schedule that profile.h names"}};
  }
  trace.erase(trace.begin(), trace.end() - static_cast<std::ptrdiff_t>(kActive * events));
  const Report right = report_of(trace, kActive);
  if (auto complaints = judge_counts(right.counts, evidence, false); !complaints.empty()) {
    return complaints;
  }
  if (auto complaints = judge_times(right, evidence); !complaints.empty()) return complaints;
  const std::string top = result(evidence, "top_kernel", std::string());
  if (top == right.top_kernel) return {};
  return {
      {"RL0509",
       "the top kernel is another" +
           Evidence{message(": it should be ", quoted(right.top_kernel), ", not ", quoted(top))},
       "of the recorded events, with your top_kernel"}};
}

}  // namespace rooflab
