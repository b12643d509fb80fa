#include "grader/report/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "grader/report/line_evidence.h"
#include "grader/report/text.h"
#include "grader/spec/json_bounds.h"

NLOHMANN_JSON_NAMESPACE_BEGIN
template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    if (value) {
      j = *value;
    } else {
      j = nullptr;
    }
  }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
  }
};
template <>
struct adl_serializer<simgpu::Code> {
  static void to_json(json& j, const simgpu::Code& code) { j = code.text(); }
  static void from_json(const json& j, simgpu::Code& code) {
    const auto known = j.is_string() ? simgpu::Code::parse(j.get<std::string>()) : std::nullopt;
    if (!known) {
      throw rooflab::EvidenceError("there is no code " +
                                   rooflab::shorten(rooflab::one_line(j.dump()), 60));
    }
    code = *known;
  }
};
NLOHMANN_JSON_NAMESPACE_END

namespace simgpu {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeBand, low_us, high_us)

}  // namespace simgpu

namespace rooflab {

/// By the names that every report uses.
void to_json(nlohmann::json& j, const Verdict& verdict) { j = name_of(verdict); }
void from_json(const nlohmann::json& j, Verdict& verdict) {
  const auto known = j.is_string() ? verdict_of(j.get<std::string>()) : std::nullopt;
  if (!known) throw EvidenceError("there is no verdict " + shorten(one_line(j.dump()), 60));
  verdict = *known;
}

/// Evidence of older graders has numbers.
void to_json(nlohmann::json& j, const Seed& seed) { j = text_of(seed); }
void from_json(const nlohmann::json& j, Seed& seed) {
  if (j.is_number_integer()) {
    seed = j.get<std::uint64_t>();
    return;
  }
  try {
    seed = seed_of(j.get<std::string>());
  } catch (const std::invalid_argument& error) {
    throw EvidenceError(error.what());
  }
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Label, file, line, column, length, excerpt, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, code, message, file, line, context, groups, labels,
                                   evidence, pattern, notes, help, commands)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseResult, name, verdict, hidden, group, peak_memory)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GroupResult, name, title, verdict, score, max_score)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counted, count, full, points, max_points)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limit, what, kernel, cost_us, without_us, least, next, change,
                                   counter, counter_value, proof)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuUser, pid, name, memory_bytes)
// Evidence of the same version may lack what came later.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measured, samples, low_us, high_us, dropped,
                                                contradicted, clocks_watched, clock_mhz, slow_clock,
                                                busy_before, not_still, beside_others, disturbed,
                                                users_known, other_users)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, time_us, spread_us, roofline_us, floor_us, efficiency,
                                   zero_efficiency, target_efficiency, bound, flops, bytes, peak,
                                   limiter, terms, advice, limit, name, sampled, at_least, points,
                                   max_points, launches, dram_bytes, kernels, peak_memory, measured,
                                   modelled, costs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HintUse::OfGroup, name, shown, of)
// Evidence of the same version may lack what came later.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HintUse, shown, of, points, groups)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoggedVersion, version, hypothesis, counter, result, has_run,
                                   hash, device, timed, time_us, efficiency, limiter,
                                   counter_before, counter_now, is_compared, has_moved,
                                   is_graded_again, differs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkLog, kernel, versions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AnswerResult, question, verdict, given, is_other_unit, cause)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JournalRun, time, task, verdict, score, max_score, hints, codes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Journal, runs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TestsTable::Group, name, title, marks, question)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TestsTable::Case, name, sizes, marks, hidden)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TestsTable, groups, cases, hidden, hidden_caught)
// What differs from the last run is no part of the evidence: it is about two results.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TaskResult, id, title, bonus, verdict, score, max_score, groups,
                                   cases, timings, artifacts, diagnostics, answers, for_people,
                                   counters, graded_later, hidden_cases, summary, printed, hints,
                                   work_log, tests)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ladder, id, title, steps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradeResult, part, title, device, device_name, time_kind, peaks,
                                   seed, submission, sandbox, tasks, ladders, course, checkout,
                                   journal, build_s, run_s)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RevealedCase, task, name, parameters, verdict,
                                                diagnostics, printed)

namespace {

constexpr int kVersion = 4;  ///< 4: groups of cases, notes for people, bounds of times

/// What a reader complains of may quote all that it read.
std::string in_brief(const nlohmann::json::exception& error) {
  constexpr std::size_t kLongest = 200;
  return shorten(one_line(error.what()), kLongest);
}

void set_default(nlohmann::json& object, const char* key, nlohmann::json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

/// What version 3 did not know yet is empty, so that a class that was graded with it keeps its
/// pages.
void upgrade_from_3(nlohmann::json& result) {
  const auto none = nlohmann::json::array();
  for (nlohmann::json& task : result.at("tasks")) {
    set_default(task, "groups", none);
    set_default(task, "for_people", none);
    set_default(task, "graded_later", 0.0);
    set_default(task, "hidden_cases", 0);
    for (nlohmann::json& one : task.at("cases")) set_default(one, "group", "");
    for (nlohmann::json& timing : task.at("timings")) set_default(timing, "at_least", false);
    for (nlohmann::json& story : task.at("diagnostics")) set_default(story, "groups", none);
  }
}

/// A result that has one of everything that a result can have.
GradeResult example_result() {
  Diagnostic story;
  story.labels.resize(1);
  Timing timing;
  timing.peak_memory.emplace();
  timing.measured.emplace().other_users.resize(1);
  timing.modelled.emplace();
  timing.costs.lines.resize(1);
  TaskResult task;
  task.groups.resize(1);
  task.cases.resize(1);
  task.cases[0].peak_memory.emplace();
  task.timings = {timing};
  task.diagnostics = {story};
  task.hints.groups.resize(1);
  task.answers.resize(1);
  task.work_log.emplace().versions.resize(1);
  task.tests.emplace().groups.resize(1);
  task.tests->cases.resize(1);
  GradeResult result;
  result.tasks = {task};
  result.ladders.resize(1);
  result.journal.emplace().runs.resize(1);
  return result;
}

/// Whether there are whole numbers wherever the example has them. The library would turn any other
/// number into one, even where it has no place there.
bool has_integers_of(const nlohmann::json& example, const nlohmann::json& read) {
  if (example.is_number_integer()) return !read.is_number_float();
  if (example.is_array() && read.is_array()) {
    return example.empty() || std::ranges::all_of(read, [&](const nlohmann::json& one) {
             return has_integers_of(example[0], one);
           });
  }
  if (!example.is_object() || !read.is_object()) return true;
  return std::ranges::all_of(example.items(), [&](const auto& item) {
    const auto found = read.find(item.key());
    return found == read.end() || has_integers_of(item.value(), *found);
  });
}

template <typename T>
T checked(const nlohmann::json& read, const T& example) {
  if (!has_integers_of(nlohmann::json(example), read)) {
    throw EvidenceError("this is no evidence of a grade: a number in it is not whole");
  }
  return read.get<T>();
}

}  // namespace

std::string to_evidence(const GradeResult& result) {
  const nlohmann::json document{{"version", kVersion}, {"result", result}};
  using Handler = nlohmann::json::error_handler_t;
  return document.dump(-1, ' ', false, Handler::replace);
}

GradeResult from_evidence(const std::string& text) {
  if (json_nests_too_deep(text)) throw EvidenceError("this is no evidence of a grade: too deep");
  try {
    auto document = nlohmann::json::parse(text);
    const int version = checked(document.at("version"), kVersion);
    if (version == 3) {
      upgrade_from_3(document.at("result"));
    } else if (version != kVersion) {
      throw EvidenceError(fmt::format(
          "this evidence is of version {}, and this grader reads version {}; use the grader that "
          "wrote it",
          version, kVersion));
    }
    nlohmann::json& result = document.at("result");
    set_default(result, "ladders", nlohmann::json::array());
    set_default(result, "course", "");
    set_default(result, "checkout", "");
    set_default(result, "journal", nullptr);
    for (nlohmann::json& task : result.at("tasks")) {
      set_default(task, "work_log", nullptr);
      set_default(task, "answers", nlohmann::json::array());
      set_default(task, "tests", nullptr);
      for (nlohmann::json& timing : task.at("timings")) {
        set_default(timing, "costs", nullptr);
        set_default(timing, "modelled", nullptr);
      }
    }
    return checked(result, example_result());
  } catch (const nlohmann::json::exception& error) {
    throw EvidenceError(fmt::format("this is no evidence of a grade: {}", in_brief(error)));
  }
}

std::string to_text(const std::vector<RevealedCase>& cases) {
  if (cases.empty()) return "";
  using Handler = nlohmann::json::error_handler_t;
  return nlohmann::json(cases).dump(-1, ' ', false, Handler::replace);
}

std::vector<RevealedCase> revealed_from(const std::string& text) {
  if (text.empty()) return {};
  if (json_nests_too_deep(text))
    throw EvidenceError("this is no evidence of hidden cases: too deep");
  try {
    RevealedCase example;
    example.diagnostics.resize(1);
    example.diagnostics[0].labels.resize(1);
    return checked(nlohmann::json::parse(text), std::vector{example});
  } catch (const nlohmann::json::exception& error) {
    throw EvidenceError(fmt::format("this is no evidence of hidden cases: {}", in_brief(error)));
  }
}

}  // namespace rooflab
