#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part4-fusion/oracle/trace.h"

/// Judges trace.h: the file that export_trace wrote against the device's records, and the pairs of
/// kernels that neighbours found in a trace made here.
namespace rooflab {
namespace {

using Json = nlohmann::json;

// The schedule that trace.h names.
constexpr std::size_t kTraceWait = 1, kTraceWarmup = 2, kTraced = 3;
constexpr std::size_t kTraceIterations = kTraceWait + kTraceWarmup + kTraced;

/// What the adapter's program puts on the device in each iteration, by the categories of a trace.
constexpr std::size_t kProgramKernels = 4, kProgramWork = 5;

/// A member of an object if it is there and has this type.
template <typename T>
T member(const Json& object, const char* name, const T& fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(name);
  if (found == object.end()) return fallback;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : fallback;
  } else {
    const bool fits = std::is_integral_v<T> ? found->is_number_integer() : found->is_number();
    return fits ? found->template get<T>() : fallback;
  }
}

/// The slices of a trace, as the file has them; streams are its rows.
/// @throws Refusal
Trace slices_of(const std::string& text) {
  if (text.empty()) {
    throw Refusal({"RL0450", "there is no trace in the file that export_trace was given",
                   "write rooflab::chrome_trace(profile) to exactly that path, for example with "
                   "std::ofstream(file) << ..."});
  }
  const Json document = Json::parse(text, nullptr, false);
  const Json* events = document.is_array() ? &document : nullptr;
  if (document.is_object() && document.contains("traceEvents")) events = &document["traceEvents"];
  if (events == nullptr || !events->is_array()) {
    throw Refusal({"RL0451", "the file is no Chrome trace: JSON with an array `traceEvents`",
                   "let rooflab::chrome_trace make the text, and write all of it"});
  }
  const std::map<std::string, std::string> kinds = {{"kernel", "kernel"},
                                                    {"gpu_memcpy", "copy"},
                                                    {"gpu_memset", "memset"},
                                                    {"cuda_runtime", "api"}};
  Trace trace;
  for (const Json& event : *events) {
    if (member(event, "ph", std::string()) != "X") continue;
    const auto kind = kinds.find(member(event, "cat", std::string()));
    if (kind == kinds.end()) continue;
    TraceEvent slice{kind->second,
                     member(event, "ts", std::nan("")),
                     member(event, "dur", std::nan("")),
                     member(event, "tid", std::int64_t{-1}),
                     0,
                     member(event, "name", std::string())};
    if (!std::isfinite(slice.start_us) || !std::isfinite(slice.duration_us)) {
      throw Refusal({"RL0451", "a slice of the trace has no start or no duration",
                     "let rooflab::chrome_trace make the text"});
    }
    if (event.contains("args")) {
      slice.correlation = member(event["args"], "correlation", std::int64_t{0});
    }
    trace.push_back(slice);
  }
  std::ranges::stable_sort(trace, {}, &TraceEvent::start_us);
  return trace;
}

Trace on_device(const Trace& trace) {
  Trace work;
  std::ranges::copy_if(trace, std::back_inserter(work), &TraceEvent::on_device);
  return work;
}

/// @throws Refusal
void check_number(const Trace& work) {
  const std::size_t right = kTraced * kProgramWork;
  if (work.size() == right) return;
  const Evidence told{
      message("; it has ", work.size(), " pieces of work, and three iterations have ", right)};
  constexpr const char* kAdvice =
      "call rooflab::profile once, with {.wait = 1, .warmup = 2, .active = 3}, and write what it "
      "returns";
  const auto kernels =
      static_cast<std::size_t>(std::ranges::count(work, "kernel", &TraceEvent::kind));
  if (work.size() == kernels && kernels == kTraced * kProgramKernels) {
    throw Refusal({"RL0450", "copies are missing from the trace" + told, kAdvice});
  }
  throw Refusal({"RL0450", "the trace does not hold the recorded iterations" + told, kAdvice});
}

/// Names, streams, durations and distances from the first, each as the device has them.
/// @throws Refusal
void check_work(const Trace& right, const Trace& work) {
  constexpr double kNanoseconds = 2e-3;       // times of a trace have three decimals
  std::map<std::int64_t, std::int64_t> rows;  // of the trace, by stream
  for (std::size_t i = 0; i < right.size(); ++i) {
    const TraceEvent &expected = right[i], &got = work[i];
    const auto wrong = [&](const char* what, const auto& should, const auto& is) {
      throw Refusal(
          {"RL0450",
           Sentence(what) + Evidence{message(": piece of work ", i, ", ", quoted(expected.kind),
                                             ", should have ", should, " and has ", is)},
           "write the events as rooflab::profile recorded them: nothing renamed, left out "
           "or scaled"});
    };
    if (got.kind != expected.kind || (got.kind == "kernel" && got.name != expected.name)) {
      wrong("the trace has other work than the device did", quoted(expected.name),
            quoted(got.name));
    }
    if (!(std::abs(got.duration_us - expected.duration_us) <= kNanoseconds)) {
      wrong("a duration is not what the device recorded, in microseconds", expected.duration_us,
            got.duration_us);
    }
    const double since_first = expected.start_us - right.front().start_us;
    const double got_since = got.start_us - work.front().start_us;
    if (!(std::abs(got_since - since_first) <= kNanoseconds)) {
      wrong("a start is not where the device recorded it, in microseconds after the first",
            since_first, got_since);
    }
    const auto [row, is_new] = rows.try_emplace(expected.stream, got.stream);
    if (row->second != got.stream) {
      wrong("the work of one stream stands in several rows", row->second, got.stream);
    }
  }
}

/// @throws Refusal
void check_calls(const Trace& trace) {
  std::set<std::int64_t> issued;
  for (const TraceEvent& event : trace) {
    if (event.kind == "api") issued.insert(event.correlation);
  }
  for (const TraceEvent& event : trace) {
    if (!event.on_device() || issued.contains(event.correlation)) continue;
    throw Refusal({"RL0450", "a kernel of the trace has no call that launched it",
                   "leave the host's calls in the profile: the arrows of a trace lead from them to "
                   "what they put on the device"});
  }
}

void judge_file(const CallEvidence& evidence) {
  const Trace trace = slices_of(result(evidence, "trace.json", std::string()));
  const Trace work = on_device(trace);
  if (evidence.keeps_records) {
    Trace right = trace_of(evidence.activity);
    const auto kernels = std::ranges::count(right, "kernel", &TraceEvent::kind);
    constexpr auto kRightKernels = static_cast<std::int64_t>(kTraceIterations * kProgramKernels);
    if (kernels != kRightKernels || right.size() < kTraceIterations * kProgramWork) {
      throw Refusal({"RL0421",
                     "the program ran too often or too rarely" +
                         Evidence{message(": the device ran ", kernels, " kernels of it, and ",
                                          kTraceIterations, " iterations have ", kRightKernels)},
                     "let rooflab::profile run it, once, with the schedule that trace.h names"});
    }
    check_number(work);
    right.erase(right.begin(), right.end() - static_cast<std::ptrdiff_t>(kTraced * kProgramWork));
    check_work(right, work);
  } else {
    check_number(work);
  }
  check_calls(trace);
}

// --- Pairs ---------------------------------------------------------------------------------------

struct Pair {
  std::string first, second;
  std::int64_t times = 0;
  double total_us = 0;
};

/// Which kernels count as neighbours.
struct PairRule {
  bool across_streams = false;
  bool across_copies = false;
  bool second_alone = false;  ///< total_us is that of the second kernels
  bool times_first = false;   ///< the list is sorted by times
  bool means = false;         ///< total_us is divided by times
};

/// For each kernel, the next piece of work of its stream by search.
std::vector<Pair> pairs_of(const Trace& trace, const PairRule& rule) {
  const auto counts = [&](const TraceEvent& event) {
    return rule.across_copies ? event.kind == "kernel" : event.on_device();
  };
  std::map<std::pair<std::string, std::string>, Pair> found;
  for (const TraceEvent& first : trace) {
    if (first.kind != "kernel") continue;
    const TraceEvent* next = nullptr;
    for (const TraceEvent& event : trace) {
      if (!counts(event) || event.start_us <= first.start_us) continue;
      if (!rule.across_streams && event.stream != first.stream) continue;
      if (next == nullptr || event.start_us < next->start_us) next = &event;
    }
    if (next == nullptr || next->kind != "kernel") continue;
    Pair& pair = found[{first.name, next->name}];
    pair.first = first.name;
    pair.second = next->name;
    ++pair.times;
    pair.total_us += next->duration_us + (rule.second_alone ? 0 : first.duration_us);
  }
  std::vector<Pair> pairs;
  for (const auto& [names, pair] : found) {
    pairs.push_back(pair);
    if (rule.means) pairs.back().total_us /= static_cast<double>(pair.times);
  }
  std::ranges::stable_sort(pairs, [&](const Pair& a, const Pair& b) {
    return rule.times_first ? a.times > b.times : a.total_us > b.total_us;
  });
  return pairs;
}

std::string entry(const char* name, std::size_t i) { return message(name, " ", i); }

Pair pair_from(const CallEvidence& evidence, std::size_t i) {
  return {result(evidence, entry("first", i), std::string("missing")),
          result(evidence, entry("second", i), std::string("missing")),
          result<std::int64_t>(evidence, entry("times", i), -1),
          result(evidence, entry("total_us", i), std::nan(""))};
}

/// The first pair that was not returned so; nothing when all were, and no other.
std::optional<std::size_t> first_other_pair(const std::vector<Pair>& pairs,
                                            const CallEvidence& evidence) {
  constexpr double kArithmetic = 1e-9;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair got = pair_from(evidence, i);
    const bool same = got.first == pairs[i].first && got.second == pairs[i].second &&
                      got.times == pairs[i].times &&
                      is_close(got.total_us, pairs[i].total_us, kArithmetic);
    if (!same) return i;
  }
  const auto count = result<std::int64_t>(evidence, "pairs", -1);
  if (count != static_cast<std::int64_t>(pairs.size())) return pairs.size();
  return std::nullopt;
}

std::string told(const Pair& pair) {
  return message(quoted(pair.first), " and ", quoted(pair.second), ", ", pair.times, " times, ",
                 pair.total_us, " us");
}

void judge_pairs(const Trace& trace, const CallEvidence& evidence) {
  const std::vector<Pair> right = pairs_of(trace, {});
  const auto first = first_other_pair(right, evidence);
  if (!first) return;
  const auto is = [&](const PairRule& rule) {
    return !first_other_pair(pairs_of(trace, rule), evidence).has_value();
  };
  Evidence evidence_of_it{message("; there should be ", right.size(), " pairs and there are ",
                                  result<std::int64_t>(evidence, "pairs", -1))};
  if (*first < right.size()) {
    evidence_of_it.text += message("; pair ", *first, " should be ", told(right[*first]), ", not ",
                                   told(pair_from(evidence, *first)));
  }
  const std::tuple<PairRule, const char*, const char*> slips[] = {
      {{.across_streams = true},
       "kernels of two streams are taken for neighbours",
       "what runs on another stream cannot be joined with it: sort by stream first, then by start"},
      {{.across_copies = true},
       "kernels with a copy or memset between them are taken for neighbours",
       "keep copies and memsets in the list: a kernel that comes after one has no kernel before "
       "it"},
      {{.second_alone = true},
       "a pair has the time of its second kernel alone",
       "add the durations of both"},
      {{.times_first = true},
       "the list is sorted by how often a pair occurs",
       "the largest total_us comes first"},
      {{.means = true},
       "a pair has the time of one occurrence",
       "add up the durations of all occurrences"}};
  for (const auto& [rule, cause, advice] : slips) {
    if (is(rule)) {
      throw Refusal({"RL0509", Sentence::of_all_cases(cause) + evidence_of_it, advice});
    }
  }
  throw Refusal({"RL0509", "the pairs of neighbours are wrong" + evidence_of_it,
                 "sort what ran on the device by stream and start: two kernels that stand side by "
                 "side are a pair"});
}

/// Parameters: function; for neighbours `events`, the lines of a trace, or the members of
/// TraceShape to make one from.
class TraceFileOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    if (text(parameters, "function") == "export_trace" || parameters.contains("events")) {
      return problem;
    }
    Random random(seed);
    problem.parameters["events"] = to_text(make_trace(trace_shape(parameters), random));
    return problem;
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return refusals_of([&] {
      if (text(problem.parameters, "function") == "export_trace") return judge_file(evidence);
      judge_pairs(parse_trace(text(problem.parameters, "events")), evidence);
    });
  }
};

ROOFLAB_ORACLE("trace", TraceFileOracle)

}  // namespace
}  // namespace rooflab
