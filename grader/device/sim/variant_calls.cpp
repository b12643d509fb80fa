#include "grader/device/sim/variant_calls.h"

#include <algorithm>
#include <bit>
#include <span>

#include "grader/device/sim/further_calls.h"
#include "grader/device/sim/sim_call.h"

namespace rooflab {
namespace {

constexpr std::chrono::duration<double> kPatience{1};
constexpr const char* kChosenVariable = "rooflab_chosen_variant";

std::uint64_t warp_instructions(const simgpu::Activity& activity) {
  std::uint64_t sum = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    sum += kernel.counters.warp_instructions;
  }
  return sum;
}

std::uint64_t budget_after(const RunRequest& request, const RunOutcome& first) {
  constexpr std::uint64_t kTimes = 4, kMore = 100'000;
  if (request.variant_budget != 0) return request.variant_budget;
  return kTimes * warp_instructions(first.activity) + kMore;
}

}  // namespace

VariantCalls::VariantCalls(SimSession& session, const RunRequest& request, const Call& first)
    : session_(session), request_(request), call_(first) {}

void VariantCalls::make(const std::optional<Reply>& reply, RunOutcome& outcome) {
  const bool is_alive = reply.has_value();
  classify(reply, session_.guest().talked_nonsense(),
           is_alive ? SandboxOutcome{} : session_.guest().end(), outcome);
  rooflab::collect(session_.device(), request_, session_.addresses(), outcome);
  budget_ = budget_after(request_, outcome);
  follows_failure_ = true;
  if (!is_alive) session_.replace_guest();
  for (std::size_t i = 0; i < request_.variants.size(); ++i) {
    outcome.variant_calls.push_back(call(i));
  }
  outcome.printed = session_.guest().end().output;
}

VariantCall VariantCalls::call(std::size_t number) {
  const Problem problem = request_.fresh(static_cast<int>(number));
  replace_tensors(session_.device(), problem, session_.addresses());
  call_.parameters = problem.parameters;
  begin(request_.variants[number]);
  const std::optional<Reply> reply = session_.guest().call(call_, kPatience);
  VariantCall result = collect(problem, reply);
  follows_failure_ = !result.is_sound;
  if (!reply) session_.replace_guest();
  return result;
}

void VariantCalls::begin(const Variant& variant) {
  call_.variant = {variant.first, variant.second, variant.value};
  session_.device().begin_variant({.instruction_budget = budget_,
                                   .host_call_limit = kHostCallLimit,
                                   .is_checked = request_.variants_checked ? 1U : 0U,
                                   .follows_failure = follows_failure_ ? 1U : 0U},
                                  kChosenVariable, std::as_bytes(std::span(&variant, 1)));
}

VariantCall VariantCalls::collect(const Problem& problem, const std::optional<Reply>& reply) {
  VariantCall result;
  simgpu::DeviceProcess& device = session_.device();
  const simgpu::Activity activity = device.collect();
  result.warp_instructions = warp_instructions(activity);
  const auto failure = std::ranges::find_if(activity.findings, is_error);
  if (failure != activity.findings.end()) result.failure_code = failure->code.text();
  result.is_sound = reply && reply->status == Reply::Status::returned &&
                    reply->cuda_error.empty() && activity.error.empty() &&
                    failure == activity.findings.end();
  if (!result.is_sound) return result;
  result.results = reply->results;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    auto& bytes = result.outputs.emplace_back(problem.tensors[i].bytes());
    if (!bytes.empty()) device.read(session_.addresses()[i], bytes);
  }
  return result;
}

}  // namespace rooflab
