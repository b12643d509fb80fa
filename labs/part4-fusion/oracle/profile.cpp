#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part4-fusion/oracle/trace.h"
#include "labs/part4-fusion/oracle/workload.h"

namespace rooflab {
namespace {

using Complaints = std::vector<Complaint>;

constexpr double kArithmetic = 1e-9;

std::string at(const char* name, std::size_t i) {
  return std::string(name) + " " + std::to_string(i);
}

/// A name as a message may quote it.
std::string quoted(const std::string& name) {
  constexpr std::size_t kMost = 90;
  return "\"" + (name.size() <= kMost ? name : name.substr(0, kMost) + "...") + "\"";
}

// --- Categories ----------------------------------------------------------------------------------

Complaints judge_classes(const Values& parameters, const CallEvidence& evidence) {
  std::istringstream names(text(parameters, "names"));
  std::size_t i = 0;
  for (std::string name; std::getline(names, name); ++i) {
    const std::string right = category_of(name);
    const std::string got = result(evidence, at("category", i), std::string("missing"));
    if (got == right) continue;
    const bool by_arguments =
        got == category_of(name.substr(std::min(name.size(), name.find('<'))).append(" "));
    return {{"RL0507",
             "a name has another category" +
                 Evidence{message(": ", quoted(name), " is ", right, ", and classify says ", got,
                                  "; its line says: ", reason_of(name))},
             by_arguments && name.find('<') != std::string::npos
                 ? "cut the name at its first '<': template arguments name other functions"
                 : "the first line of profile.h that fits decides"}};
  }
  return {};
}

std::map<std::string, std::int64_t> counts_of(const Trace& trace) {
  std::map<std::string, std::int64_t> counts;
  for (const TraceEvent& event : trace) {
    if (!event.on_device()) continue;
    ++counts[category_of(event.name)];
    ++counts["total"];
  }
  return counts;
}

constexpr const char* kCategories[] = {"gemm",   "elementwise", "softmax", "layernorm",
                                       "memory", "other",       "total"};

Complaints judge_counts(const Trace& trace, const CallEvidence& evidence) {
  std::map<std::string, std::int64_t> right = counts_of(trace);
  for (const char* category : kCategories) {
    const auto got = result<std::int64_t>(evidence, category, -1);
    if (got == right[category]) continue;
    const bool all_events =
        result<std::int64_t>(evidence, "total", -1) == static_cast<std::int64_t>(trace.size());
    return {
        {"RL0509",
         (all_events ? Sentence("calls and ranges of the host are counted with the device's work")
                     : Sentence("a count is wrong")) +
             Evidence{message("; ", category, " should be ", right[category], ", not ", got)},
         "count the events of kind kernel, copy and memset, each in the category of its name"}};
  }
  return {};
}

// --- Summaries -----------------------------------------------------------------------------------

struct Row {
  std::string name;
  std::int64_t calls = 0;
  double total_us = 0, mean_us = 0, share = 0;
};

struct SummaryRule {
  bool with_host = false;  ///< host calls and ranges, too
  bool kernels_only = false;
  bool share_of_span = false;  ///< shares of the time from the first event to the last
  bool longest_first = false;  ///< by the longest single call
  bool calls_first = false;
  bool mean_first = false;
};

std::vector<Row> rows_of(const Trace& trace, const SummaryRule& rule = {}) {
  std::map<std::string, Row> by_name;
  std::map<std::string, double> longest;
  double all = 0;
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (const TraceEvent& event : trace) {
    if (!event.on_device() && !rule.with_host) continue;
    if (rule.kernels_only && event.kind != "kernel") continue;
    Row& row = by_name[event.name];
    row.name = event.name;
    ++row.calls;
    row.total_us += event.duration_us;
    longest[event.name] = std::max(longest[event.name], event.duration_us);
    all += event.duration_us;
    first = std::min(first, event.start_us);
    last = std::max(last, event.end_us());
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_name) {
    row.mean_us = row.total_us / static_cast<double>(row.calls);
    row.share = row.total_us / (rule.share_of_span ? last - first : all);
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), [&](const Row& row) {
    if (rule.longest_first) return longest[row.name];
    if (rule.calls_first) return static_cast<double>(row.calls);
    return rule.mean_first ? row.mean_us : row.total_us;
  });
  return rows;
}

Row row_from(const CallEvidence& evidence, std::size_t i) {
  return {result(evidence, at("name", i), std::string()),
          result<std::int64_t>(evidence, at("calls", i), -1),
          result(evidence, at("total_us", i), std::nan("")),
          result(evidence, at("mean_us", i), std::nan("")),
          result(evidence, at("share", i), std::nan(""))};
}

bool equal(const Row& right, const Row& got) {
  return right.name == got.name && right.calls == got.calls &&
         is_close(got.total_us, right.total_us, kArithmetic) &&
         is_close(got.mean_us, right.mean_us, kArithmetic) &&
         is_close(got.share, right.share, kArithmetic);
}

bool summary_is(const std::vector<Row>& rows, const CallEvidence& evidence) {
  if (result<std::int64_t>(evidence, "names", -1) != static_cast<std::int64_t>(rows.size())) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!equal(rows[i], row_from(evidence, i))) return false;
  }
  return true;
}

/// "3 calls of "gelu", 12.5 us in all, 4.1667 us each, share 0.25".
std::string told(const Row& row) {
  return message(row.calls, " calls of ", quoted(row.name), ", ", row.total_us, " us in all, ",
                 row.mean_us, " us each, share ", row.share);
}

Complaints judge_summary(const Trace& trace, const CallEvidence& evidence) {
  const std::vector<Row> right = rows_of(trace);
  if (summary_is(right, evidence)) return {};
  const std::pair<SummaryRule, std::pair<const char*, const char*>> slips[] = {
      {{.with_host = true},
       {"calls and ranges of the host are summed up with the device's work",
        "take the events of kind kernel, copy and memset"}},
      {{.kernels_only = true},
       {"copies and memsets are left out", "they keep the device busy, too"}},
      {{.share_of_span = true},
       {"shares are of the time from the first event to the last",
        "a share is of the total_us of all names: shares add up to 1"}},
      {{.calls_first = true}, {"the list is sorted by calls", "the largest total_us comes first"}},
      {{.mean_first = true}, {"the list is sorted by means", "the largest total_us comes first"}},
  };
  Evidence first;
  const auto names = result<std::int64_t>(evidence, "names", -1);
  if (names != static_cast<std::int64_t>(right.size())) {
    first.text = message("; there should be ", right.size(), " names and there are ", names);
  }
  for (std::size_t i = 0; i < right.size() && first.text.empty(); ++i) {
    const Row got = row_from(evidence, i);
    if (equal(right[i], got)) continue;
    first.text = message("; entry ", i, " should be ", told(right[i]), ", not ", told(got));
  }
  for (const auto& [rule, story] : slips) {
    if (summary_is(rows_of(trace, rule), evidence)) {
      return {{"RL0509", Sentence::of_all_cases(story.first) + first, story.second}};
    }
  }
  return {{"RL0509", "the summary is wrong" + first,
           "one entry for each name: how many device events, how long together"}};
}

Complaints judge_top(const Trace& trace, const CallEvidence& evidence) {
  const auto top = [&](const SummaryRule& rule) {
    const std::vector<Row> rows = rows_of(trace, rule);
    return rows.empty() ? std::string() : rows.front().name;
  };
  const std::string right = top({.kernels_only = true});
  const std::string got = result(evidence, "top_kernel", std::string("missing"));
  if (got == right) return {};
  const Evidence told{message("; it should be ", quoted(right), ", not ", quoted(got))};
  constexpr const char* kAdvice = "add up the durations of all kernels of one name, then compare";
  const std::vector<Row> kernels = rows_of(trace, {.kernels_only = true});
  const auto own = std::ranges::find(kernels, got, &Row::name);
  if (own != kernels.end() && own->total_us == kernels.front().total_us) {
    return {{"RL0509", "of kernels with equal totals, the top one is not the first" + told,
             "of equal ones, the first in the alphabet"}};
  }
  if (got == top({.kernels_only = true, .longest_first = true})) {
    return {{"RL0509", "the top kernel is that of the longest single call" + told, kAdvice}};
  }
  if (got == top({.kernels_only = true, .calls_first = true})) {
    return {{"RL0509", "the top kernel is the one with most calls" + told, kAdvice}};
  }
  if (got == top({}) || got == top({.with_host = true})) {
    return {{"RL0509", "the top kernel is no kernel" + told,
             "copies, memsets and calls of the host are left out here"}};
  }
  return {{"RL0509", "the top kernel is wrong" + told, kAdvice}};
}

// --- Gaps ----------------------------------------------------------------------------------------

TraceGap gap_from(const CallEvidence& evidence, std::size_t i) {
  return {result(evidence, at("start", i), std::nan("")),
          result(evidence, at("duration", i), std::nan("")),
          result(evidence, at("cause", i), std::string("missing"))};
}

/// The first gap that was not returned with these times; nothing when all were and no other.
std::optional<std::size_t> first_other_gap(const std::vector<TraceGap>& gaps,
                                           const CallEvidence& evidence) {
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const TraceGap got = gap_from(evidence, i);
    const bool same = std::abs(got.start_us - gaps[i].start_us) <= kArithmetic &&
                      is_close(got.duration_us, gaps[i].duration_us, kArithmetic);
    if (!same) return i;
  }
  const auto count = result<std::int64_t>(evidence, "gaps", -1);
  if (count != static_cast<std::int64_t>(gaps.size())) return gaps.size();
  return std::nullopt;
}

Complaint wrong_gaps(const Trace& trace, const std::vector<TraceGap>& right, std::size_t first,
                     const CallEvidence& evidence) {
  const auto count = result<std::int64_t>(evidence, "gaps", -1);
  Evidence told{message("; there should be ", right.size(), " gaps and there are ", count)};
  if (first < right.size()) {
    const TraceGap got = gap_from(evidence, first);
    told.text += message("; gap ", first, " should start at ", right[first].start_us,
                         " us and last ", right[first].duration_us, " us");
    if (!std::isnan(got.start_us)) {
      told.text +=
          message(", and starts at ", got.start_us, " us and lasts ", got.duration_us, " us");
    }
  }
  const auto is = [&](const GapRule& rule) {
    return !first_other_gap(gaps_of(trace, rule), evidence).has_value();
  };
  if (is({.copies_are_idle = true})) {
    return {"RL0508", "the device is taken to be idle while it copies" + told,
            "copies and memsets are device events"};
  }
  if (is({.calls_are_busy = true})) {
    return {"RL0508", "calls of the host count as work of the device" + told,
            "an api event runs on the host: the device may be idle meanwhile"};
  }
  if (is({.after_the_event_before = true})) {
    return {"RL0508",
            "gaps are measured from the event that started last, while an earlier one "
            "still runs" +
                told,
            "keep the latest end of all events so far: the device is busy until then"};
  }
  std::set<std::int64_t> streams;
  for (const TraceEvent& event : trace) streams.insert(event.stream);
  for (const std::int64_t stream : streams) {
    if (streams.size() > 1 && is({.stream = stream})) {
      return {"RL0508", "only one stream is looked at" + told,
              "the device is idle where no stream has work"};
    }
  }
  return {"RL0508", "the gaps are wrong" + told,
          "sort the device events by their start and walk over them: until when is the device "
          "busy?"};
}

Complaints judge_gaps(const Trace& trace, const CallEvidence& evidence) {
  const std::vector<TraceGap> right = gaps_of(trace);
  if (const auto first = first_other_gap(right, evidence)) {
    return {wrong_gaps(trace, right, *first, evidence)};
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    const std::string got = gap_from(evidence, i).cause;
    if (got == right[i].cause) continue;
    return {{"RL0508",
             "a gap has another cause" +
                 Evidence{message(": that of ", right[i].duration_us, " us at ", right[i].start_us,
                                  " us has the cause ", right[i].cause, ", and launch_gaps says ",
                                  got)},
             "find the api event with the correlation of the work that ends the gap, and ask the "
             "lines of profile.h in order"}};
  }
  return {};
}

/// The functions of profile.h. Parameters: function; names, one in a line, for classify; for the
/// others events, the lines of a trace, or the members of TraceShape to make one from.
class ProfileOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    const std::string& function = text(parameters, "function");
    const bool is_given =
        function == "profile_workload" || function == "classify" || parameters.contains("events");
    if (is_given) return problem;
    Random random(seed);
    problem.parameters["events"] = to_text(make_trace(trace_shape(parameters), random));
    return problem;
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    const std::string& function = text(problem.parameters, "function");
    if (function == "classify") return judge_classes(problem.parameters, evidence);
    if (function == "profile_workload") return judge_workload(evidence);
    const Trace trace = parse_trace(text(problem.parameters, "events"));
    if (function == "count_by_category") return judge_counts(trace, evidence);
    if (function == "summarise") return judge_summary(trace, evidence);
    if (function == "top_kernel") return judge_top(trace, evidence);
    if (function == "launch_gaps") return judge_gaps(trace, evidence);
    throw std::invalid_argument("no `function` of profile.h is called " + function);
  }
};

ROOFLAB_ORACLE("profile", ProfileOracle)

}  // namespace
}  // namespace rooflab
