#include <algorithm>

#include "grader/device/result_findings.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/device_work.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/run_case.h"
#include "grader/reactions/parameter_domain.h"

namespace rooflab {
namespace {

/// Whether a call has come back and the device saw nothing wrong: work off the given stream makes
/// no wrong values here, and leaks none.
bool is_sound(const RunOutcome& outcome) {
  return outcome.end == RunOutcome::End::returned && outcome.failed_call == 0 &&
         outcome.cuda_error.empty() && outcome.activity.error.empty() &&
         std::ranges::none_of(outcome.activity.findings, concerns_results);
}

}  // namespace

/// Problems that may be wrong like this one, the smallest first: all numbers at their least, or all
/// but one, which makes it wrong; then the case itself.
bool CaseRunner::is_taken(const Values& parameters) const {
  try {
    oracle_->make(parameters, 0);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::vector<Values> CaseRunner::a_little_smaller(const Values& parameters) const {
  std::vector<Values> smaller = ParameterDomain(public_parameters()).smaller(parameters);
  std::erase_if(smaller, [this](const Values& less) { return !is_taken(less); });
  return smaller;
}

std::vector<Values> CaseRunner::smaller_problems(const CaseSpec& spec) const {
  const ParameterDomain domain(public_parameters());
  std::vector<Values> problems{domain.smallest(spec.parameters)};
  for (const ParameterDomain::Unit& unit : domain.changeable(spec.parameters)) {
    Values one_large = problems.front();
    for (const std::string& name : unit) one_large[name] = spec.parameters.at(name);
    if (domain.allows(one_large)) problems.push_back(std::move(one_large));
  }
  const auto cost = [this](const Values& parameters) {
    const Work work = oracle_->work(parameters);
    return total_flops(work) + work.compulsory_bytes;
  };
  std::erase_if(problems, [this](const Values& parameters) { return !is_taken(parameters); });
  std::ranges::stable_sort(problems, {}, cost);
  constexpr std::size_t kMostTries = 4;
  if (problems.size() > kMostTries) problems.resize(kMostTries);
  std::erase(problems, spec.parameters);
  problems.push_back(spec.parameters);
  return problems;
}

/// A call of a small problem, which takes far less than the case's own limit.
RunRequest CaseRunner::small_request(const Problem& problem, const NumberedCase& numbered) const {
  constexpr std::chrono::duration<double> kLongest{5};
  RunRequest request = request_of(problem, false, numbered);
  request.time_limit = std::min(request.time_limit, kLongest);
  request.host_time_limit = std::min(request.host_time_limit, kLongest);
  return request;
}

Called CaseRunner::call_all(const NumberedCase& numbered, std::size_t count,
                            const std::function<Problem(std::size_t)>& posed) const {
  const Problem first = posed(0);
  RunRequest request = small_request(first, numbered);
  // In the same arrays, so that none of them is of another size or place than before.
  request.further.assign(count - 1, {.at = 0});
  request.fresh = [&](int index) { return posed(static_cast<std::size_t>(index) + 1); };
  RunOutcome outcome = scene_.tools.device.run(request);
  if (!is_sound(outcome)) return {};
  Called called{.outputs = {std::move(outcome.outputs)}};
  for (FreshCall& call : outcome.fresh) called.outputs.push_back(std::move(call.outputs));
  for (const simgpu::KernelRecord& kernel : outcome.activity.kernels) {
    called.warp_instructions += kernel.counters.warp_instructions;
  }
  return called;
}

std::optional<ElementOrigin> CaseRunner::origin_of(const NumberedCase& numbered,
                                                   const Problem& problem,
                                                   const ElementPlace& place) const {
  RunRequest request = small_request(problem, numbered);
  request.origins_of = {place};
  const RunOutcome outcome = scene_.tools.device.run(request);
  if (!is_sound(outcome) || outcome.origins.size() != 1) return std::nullopt;
  return outcome.origins.front();
}

SearchedCause CaseRunner::find_cause(const std::vector<const CaseSpec*>& failed) const {
  std::vector<const CaseSpec*> cases = failed;
  std::erase_if(cases, [](const CaseSpec* spec) {
    return spec->hidden || spec->late_inputs || !is_whole(*spec);
  });
  const bool may = scene_.task().kind == TaskKind::kernel && oracle_ != nullptr &&
                   scene_.tools.device.checks_every_run() && !cases.empty();
  if (!may) return {};
  scene_.tools.progress(scene_.task().id + ": looking for the cause");
  // A case of one element shows little of what the others have in common.
  const CaseSpec& spec = **std::ranges::max_element(
      cases, {}, [this](const CaseSpec* each) { return bytes_of(*each); });
  // A change that explains one width may be refuted by another one.
  std::vector<Values> of_kind = other_cases(cases);
  of_kind = ParameterDomain(std::move(of_kind)).of_kind(spec.parameters);
  for (const CaseSpec* each : cases) of_kind.push_back(each->parameters);
  const NumberedCase numbered{spec};
  const auto draw = [&](const Values& parameters, int number) {
    CaseSpec drawn = spec;
    drawn.parameters = parameters;
    return problem_of(drawn, spec.name + ", cause " + std::to_string(number));
  };
  try {
    return search_cause(
        {.oracle = *oracle_,
         .axes = scene_.task().axes,
         .candidates = smaller_problems(spec),
         .cases = of_kind,
         .draw = draw,
         .call =
             [&](std::size_t count, const std::function<Problem(std::size_t)>& posed) {
               return call_all(numbered, count, posed);
             },
         .compare =
             [](const Problem& problem, const std::vector<Expected>& expected,
                const Outputs& outputs) { return wrong_tensors(problem, expected, outputs); },
         .origin = [&](const Problem& problem,
                       const ElementPlace& place) { return origin_of(numbered, problem, place); }});
  } catch (const std::exception&) {
    // An oracle that does not take the problem: the case keeps the story that it has.
    return {};
  }
}

}  // namespace rooflab
