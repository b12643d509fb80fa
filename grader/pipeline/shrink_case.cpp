#include <algorithm>
#include <exception>

#include "grader/pipeline/run_case.h"
#include "grader/reactions/parameter_domain.h"

namespace rooflab {
namespace {

/// Calls of smaller problems, of a few tenths of a second each.
constexpr std::size_t kMostTries = 24;

/// Whether two judgements tell the same failure. The message is not compared: it has sizes in it.
bool is_same_failure(const Judgement& one, const Judgement& other) {
  if (one.verdict != other.verdict) return false;
  if (one.diagnostics.empty() || other.diagnostics.empty()) return false;
  const Diagnostic& a = one.diagnostics.front();
  const Diagnostic& b = other.diagnostics.front();
  return a.code == b.code && a.file == b.file && a.line == b.line;
}

}  // namespace

Judgement CaseRunner::judge_again(const NumberedCase& numbered, const Again& again) const {
  DiagnoseContext place = scene_.context();
  place.case_name = numbered.spec.name;
  place.case_number = numbered.number;
  place.hidden = numbered.spec.hidden;
  return judge({scene_.task(), numbered.spec, again.problem, oracle_, again.outcome, place,
                scene_.tools.device.gpu()});
}

bool CaseRunner::may_shrink(const CaseSpec& spec) const {
  return scene_.task().kind == TaskKind::kernel && oracle_ != nullptr && !spec.hidden &&
         !spec.late_inputs && is_whole(spec) && scene_.tools.device.checks_every_run();
}

std::optional<NumberedCase> CaseRunner::shrink(const NumberedCase& failing) const {
  if (!may_shrink(failing.spec)) return std::nullopt;
  std::vector<Values> tried;
  NumberedCase smaller = failing;
  try {
    const Judgement whole = judge_again(failing, run_again(failing, {}));
    const auto fails_alike = [&](const Values& parameters) {
      const bool is_known = std::ranges::find(tried, parameters) != tried.end();
      if (is_known || tried.size() == kMostTries) return false;
      tried.push_back(parameters);
      NumberedCase less = failing;
      less.spec.parameters = parameters;
      Again again{.problem = problem_of(less.spec, less.spec.name), .outcome = {}};
      again.outcome = run_with_retry(small_request(again.problem, less));
      return is_same_failure(judge_again(less, again), whole);
    };
    const std::vector<Values> first = smaller_problems(failing.spec);
    smaller.spec.parameters = *std::find_if(first.begin(), first.end() - 1, fails_alike);
    for (bool has_shrunk = true; has_shrunk;) {
      has_shrunk = false;
      for (const Values& less : a_little_smaller(smaller.spec.parameters)) {
        if (!fails_alike(less)) continue;
        smaller.spec.parameters = less;
        has_shrunk = true;
        break;
      }
    }
  } catch (const std::exception&) {
    // An oracle that does not take a problem: what is known by now is a problem that fails.
  }
  if (smaller.spec.parameters == failing.spec.parameters) return std::nullopt;
  return smaller;
}

}  // namespace rooflab
