#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "grader/pipeline/check.h"
#include "grader/pipeline/run_case.h"
#include "grader/reactions/terms.h"

namespace rooflab {
namespace {

/// A failing check takes no longer than this for it.
constexpr std::chrono::duration<double> kHostTime{1};

bool may_have_a_reaction(const Judgement& judgement) {
  return judgement.verdict == Verdict::wrong_answer && !judgement.diagnostics.empty() &&
         !names_cause(judgement.diagnostics.front());
}

}  // namespace

/// What the oracle knows for parameters of its choice or ours; nothing where it refuses them.
std::optional<Values> CaseRunner::expected_at(const Values& parameters) const {
  try {
    Values expected = oracle_->results_elsewhere({parameters, {}});
    if (!expected.empty()) return expected;
  } catch (const std::exception&) {  // these parameters make no sense
  }
  return std::nullopt;
}

std::vector<Values> CaseRunner::public_parameters() const {
  std::vector<Values> all;
  for (const CaseSpec& spec : scene_.task().cases) {
    if (!spec.hidden && spec.vast_gb == 0) all.push_back(spec.parameters);
  }
  return all;
}

/// Calls with other parameters, of which the oracle knows what they should give. None where nothing
/// can be learnt of it.
std::vector<TermSample> CaseRunner::samples_around(const NumberedCase& numbered) const {
  const CaseSpec& spec = numbered.spec;
  const auto right = expected_at(spec.parameters);
  // Where the case says something else than the oracle, nothing can be learnt of the oracle.
  if (!right || !wrong_results(*right, spec.expect).empty()) return {};
  std::vector<TermPoint> points = points_around(spec.parameters, public_parameters(),
                                                seeds_of(spec.name + ", elsewhere").selection);
  std::erase_if(points, [&](const TermPoint& point) { return !expected_at(point.parameters); });
  if (points.empty()) return {};
  const Problem first{points.front().parameters, {}};
  RunRequest request = request_of(first, false, numbered);
  request.time_limit = kHostTime;
  request.host_time_limit = kHostTime;
  request.further.resize(points.size() - 1);
  request.fresh = [&](int index) -> Problem {
    return {points.at(static_cast<std::size_t>(index) + 1).parameters, {}};
  };
  const RunOutcome outcome = scene_.tools.device.run(request);
  std::vector<TermSample> samples;
  const auto add = [&](const TermPoint& point, const Values& got) {
    samples.push_back({point.parameters, got, *expected_at(point.parameters), point.proves});
  };
  add(points.front(), outcome.results);
  for (std::size_t i = 0; i < outcome.fresh.size(); ++i) {
    add(points.at(i + 1), outcome.fresh[i].results);
  }
  return samples;
}

/// Whether some of these calls gave what no slip gives: then the slip that would give the case's
/// numbers, too, is not what went wrong.
bool CaseRunner::is_no_slip(const std::vector<TermSample>& samples) const {
  return std::ranges::any_of(samples, [this](const TermSample& sample) {
    if (sample.got.empty() || wrong_results(sample.got, sample.expected).empty()) return false;
    return !oracle_->explain({sample.parameters, {}}, sample.got, sample.expected);
  });
}

/// A cause of wrong numbers that other calls show; or, of a slip that they refute, the story
/// without it.
std::optional<Judgement> CaseRunner::judge_reaction(const NumberedCase& numbered,
                                                    const Judgement& judgement) const {
  const bool is_slip =
      judgement.verdict == Verdict::wrong_answer && judgement.without_cause.has_value();
  const bool is_asked = scene_.task().kind == TaskKind::values && oracle_ != nullptr &&
                        !numbered.spec.hidden && scene_.tools.device.checks_every_run() &&
                        (is_slip || may_have_a_reaction(judgement));
  if (!is_asked) return std::nullopt;
  const std::vector<TermSample> samples = samples_around(numbered);
  if (samples.empty() || (is_slip && !is_no_slip(samples))) return std::nullopt;
  Judgement told = judgement;
  if (is_slip) drop_cause(told);
  const auto elsewhere = [this](const Values& parameters) { return expected_at(parameters); };
  const auto law = find_law(samples, within_reason(elsewhere, public_parameters()));
  if (!law) return is_slip ? std::optional(std::move(told)) : std::nullopt;

  DiagnoseContext place = scene_.context();
  place.case_name = numbered.spec.name;
  place.case_number = numbered.number;
  Diagnostic& story = told.diagnostics.front();
  story = explain_law(*law, story, samples, place);
  told.telling = std::max(told.telling, names_cause(story) ? Telling::law : Telling::pattern);
  return told;
}

}  // namespace rooflab
