#include "grader/report/evidence.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

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
NLOHMANN_JSON_NAMESPACE_END

namespace rooflab {

/// By the names that every report uses.
void to_json(nlohmann::json& j, const Verdict& verdict) { j = name_of(verdict); }
void from_json(const nlohmann::json& j, Verdict& verdict) {
  const auto known = j.is_string() ? verdict_of(j.get<std::string>()) : std::nullopt;
  if (!known) throw EvidenceError("there is no verdict " + j.dump());
  verdict = *known;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Label, file, line, column, length, excerpt, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, code, message, file, line, context, groups, labels,
                                   evidence, pattern, notes, help, commands)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseResult, name, verdict, hidden, group, peak_memory)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GroupResult, name, title, verdict, score, max_score)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counted, count, full, points, max_points)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limit, what, kernel, cost_us, without_us, least, next, change,
                                   counter, counter_value, proof)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measured, samples, low_us, high_us, dropped, contradicted,
                                   clocks_watched, clock_mhz)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, time_us, spread_us, roofline_us, floor_us, efficiency,
                                   zero_efficiency, target_efficiency, bound, flops, bytes, peak,
                                   limiter, terms, advice, limit, name, sampled, points, max_points,
                                   launches, dram_bytes, kernels, peak_memory, measured)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HintUse, shown, of, points)
// What differs from the last run is no part of the evidence: it is about two results.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TaskResult, id, title, bonus, verdict, score, max_score, groups,
                                   cases, timings, artifacts, diagnostics, counters, graded_later,
                                   hidden_cases, summary, printed, hints)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradeResult, part, title, device, device_name, time_kind, peaks,
                                   seed, submission, sandbox, tasks, build_s, run_s)

namespace {

constexpr int kVersion = 4;  ///< 4: groups of cases

}  // namespace

std::string to_evidence(const GradeResult& result) {
  const nlohmann::json document{{"version", kVersion}, {"result", result}};
  using Handler = nlohmann::json::error_handler_t;
  return document.dump(-1, ' ', false, Handler::replace);
}

GradeResult from_evidence(const std::string& text) {
  try {
    const auto document = nlohmann::json::parse(text);
    if (const int version = document.at("version").get<int>(); version != kVersion) {
      throw EvidenceError(fmt::format(
          "this evidence is of version {}, and this grader reads version {}; use the grader that "
          "wrote it",
          version, kVersion));
    }
    return document.at("result").get<GradeResult>();
  } catch (const nlohmann::json::exception& error) {
    throw EvidenceError(fmt::format("this is no evidence of a grade: {}", error.what()));
  }
}

}  // namespace rooflab
