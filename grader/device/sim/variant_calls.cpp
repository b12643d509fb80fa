#include "grader/device/sim/variant_calls.h"

#include <time.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "grader/device/result_findings.h"
#include "grader/device/sim/sim_call.h"

namespace rooflab {
namespace {

using Seconds = std::chrono::duration<double>;

/// Guests and devices that are started in place of those that variants have ended.
constexpr int kMostReplaced = 8;

std::uint64_t warp_instructions(const simgpu::Activity& activity) {
  std::uint64_t sum = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    sum += kernel.counters.warp_instructions;
  }
  return sum;
}

std::uint64_t most_blocks(const simgpu::Activity& activity) {
  std::uint64_t most = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    most = std::max(most, kernel.grid.count());
  }
  return most;
}

/// @param first what the first call has done. Of the budget that is more than its instructions:
///              sectors of memory take time, too
///              Where the calls are few, each may take more: a wrong one may have left out most of
///              what a right one does.
/// @param is_sound whether it came to its end: what one has done that failed says little of what a
///                 right one takes
simgpu::protocol::VariantLimits limits_after(const RunRequest& request,
                                             const simgpu::protocol::CallWork& first,
                                             bool is_sound) {
  constexpr std::uint64_t kTimes = 4, kTimesFailed = 2, kMore = 100'000, kMoreCalls = 2000;
  constexpr std::uint64_t kOfAll = 30'000'000, kMostOfOne = 5'000'000;
  const std::uint64_t share = kOfAll / std::max<std::size_t>(request.variants.size(), 1);
  const std::uint64_t budget = std::max(
      (is_sound ? kTimes : kTimesFailed) * first.of_budget + kMore, std::min(share, kMostOfOne));
  return {.instruction_budget = request.variant_budget != 0 ? request.variant_budget : budget,
          .host_call_limit = kTimes * first.host_calls + kMoreCalls,
          .is_checked = request.variants_checked ? 1U : 0U,
          .follows_failure = 1,
          .is_timed = request.variants_timed ? 1U : 0U};
}

/// How long a call may take by the clock: a second of the host's, and what a slow machine takes for
/// its work on the device.
Seconds patience_for(std::uint64_t budget) {
  constexpr Seconds kHostTime{1};
  constexpr double kInstructionsPerSecond = 5e5;
  return kHostTime + Seconds(static_cast<double>(budget) / kInstructionsPerSecond);
}

std::vector<std::size_t> sizes_of(const Problem& problem) {
  std::vector<std::size_t> bytes;
  for (const Tensor& tensor : problem.tensors) bytes.push_back(tensor.bytes());
  return bytes;
}

/// Processor time that a process has taken so far; 0 where nobody can say.
double processor_seconds(int process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

/// `table[number >> 4] = number & 15`, as long as it has to be.
std::vector<std::byte> table_of(const Variant& variant) {
  constexpr int kMostSites = 1 << 16, kAlternatives = 16;
  std::vector<std::byte> table;
  for (const int number : {variant.first, variant.second}) {
    if (number <= 0 || number / kAlternatives >= kMostSites) continue;
    const auto site = static_cast<std::size_t>(number / kAlternatives);
    table.resize(std::max(table.size(), site + 1));
    table[site] = static_cast<std::byte>(number % kAlternatives);
  }
  return table;
}

/// Where device code looks: VARIANTS.md.
std::vector<simgpu::VariableContent> variables_of(const Variant& variant) {
  struct Choice {
    std::int32_t first, second;
    double value;
  };
  return {
      {"rooflab_chosen_variant", bytes_of(Choice{variant.first, variant.second, variant.value})},
      {"rooflab_chosen_table", table_of(variant)},
      {"rooflab_chosen_value", bytes_of(variant.value)}};
}

}  // namespace

VariantCalls::VariantCalls(SimSession& session, const RunRequest& request, const Call& first)
    : session_(session), request_(request), first_(first), stream_(first.stream) {
  placed_.push_back({sizes_of(*request.problem), session.addresses()});
}

void VariantCalls::make(const std::optional<Reply>& reply, RunOutcome& outcome) {
  finish_first(reply, outcome);
  begin_time();
  make_all(outcome);
  deadline_.reset();
  if (!printed_) printed_ = session_.guest().end().output;
  outcome.printed = *std::move(printed_);
}

/// As the outcome of a call that nothing comes behind, but its guest stays if it can.
void VariantCalls::finish_first(const std::optional<Reply>& reply, RunOutcome& outcome) {
  SandboxOutcome process;
  if (!reply) {
    process = session_.guest().end();
    printed_ = process.output;
  }
  classify(reply, session_.guest().talked_nonsense(), process, outcome);
  rooflab::collect(session_.device(), request_, session_.addresses(), outcome);
  needs_guest_ = !reply;
  // Of a device that had to be ended there are no outputs.
  needs_device_ = outcome.outputs.size() != request_.problem->tensors.size();
  const bool is_sound = outcome.end == RunOutcome::End::returned && outcome.cuda_error.empty() &&
                        outcome.activity.error.empty() &&
                        std::ranges::none_of(outcome.activity.findings, concerns_results);
  limits_ = limits_after(
      request_, needs_device_ ? simgpu::protocol::CallWork{} : session_.device().work_since_mark(),
      is_sound);
  if (is_sound) session_.device().keep_for_variants();
  limits_.follows_failure = is_sound ? 0 : 1;
}

void VariantCalls::begin_time() {
  until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time_for_variants(request_));
  processor_s_ =
      request_.variants_time_limit.count() + processor_seconds(session_.device().process_id());
  if (!needs_device_) deadline_.emplace(session_.device(), until_ - Clock::now());
}

bool VariantCalls::is_time_over() const {
  return Clock::now() >= until_ ||
         processor_seconds(session_.device().process_id()) >= processor_s_;
}

void VariantCalls::make_all(RunOutcome& outcome) {
  for (std::size_t i = 0; i < request_.variants.size() && !is_time_over(); ++i) {
    VariantCall made = attempt(i);
    if (needs_device_ && is_time_over()) return;  // it is their deadline that ended the device
    outcome.variant_calls.push_back(std::move(made));
  }
}

/// The call, in another guest or device than the last one where that has to be.
VariantCall VariantCalls::attempt(std::size_t number) {
  try {
    if (!has_guest()) return {};
    return call(number);
  } catch (const simgpu::DeviceProcessError&) {
    needs_device_ = true;
    return {};
  }
}

/// Whether there is a guest to call, maybe a new one.
bool VariantCalls::has_guest() {
  if (!needs_guest_ && !needs_device_) return true;
  if (replaced_ == kMostReplaced) return false;
  ++replaced_;
  if (needs_device_) {
    replace_device();
  } else {
    replace_guest();
  }
  needs_guest_ = needs_device_ = false;
  if (first_.gives_stream) stream_ = session_.device().open_callers_stream();
  return true;
}

void VariantCalls::replace_guest() {
  std::string printed = session_.replace_guest();
  if (!printed_) printed_ = std::move(printed);
}

void VariantCalls::replace_device() {
  deadline_.reset();
  const double spent_s = processor_seconds(session_.device().process_id());
  std::string printed = session_.replace_device();
  if (!printed_) printed_ = std::move(printed);
  processor_s_ -= spent_s;
  placed_ = {{sizes_of(*request_.problem), session_.addresses()}};
  deadline_.emplace(session_.device(), until_ - Clock::now());
}

VariantCall VariantCalls::call(std::size_t number) {
  const Problem problem =
      request_.fresh ? request_.fresh(static_cast<int>(number)) : *request_.problem;
  const std::vector<std::uint64_t>& addresses = place(problem);
  RunRequest request = request_;
  request.problem = &problem;
  Call call = call_for(request, addresses);
  call.gives_stream = first_.gives_stream;
  call.holds_to_stream = first_.holds_to_stream;
  call.stream = stream_;
  const Variant& variant = request_.variants[number];
  call.variant = {variant.first, variant.second, variant.value};
  session_.device().begin_variant(limits_, variables_of(variant));
  const std::optional<Reply> reply =
      session_.guest().call(call, patience_for(limits_.instruction_budget));
  needs_guest_ = !reply;
  limits_.follows_failure = 1;  // until it is known better
  VariantCall result = collect(problem, addresses, reply);
  limits_.follows_failure = result.is_sound ? 0 : 1;
  return result;
}

/// Puts the tensors where those of the same sizes were before. @returns their addresses
const std::vector<std::uint64_t>& VariantCalls::place(const Problem& problem) {
  std::vector<std::size_t> bytes = sizes_of(problem);
  const auto known = std::ranges::find(placed_, bytes, &Placed::bytes);
  if (known == placed_.end()) {
    placed_.push_back({std::move(bytes), place_tensors(session_.device(), problem)});
    return placed_.back().addresses;
  }
  replace_tensors(session_.device(), problem, known->addresses);
  return known->addresses;
}

VariantCall VariantCalls::collect(const Problem& problem,
                                  const std::vector<std::uint64_t>& addresses,
                                  const std::optional<Reply>& reply) {
  VariantCall result;
  simgpu::DeviceProcess& device = session_.device();
  const simgpu::Activity activity = device.collect();
  result.warp_instructions = warp_instructions(activity);
  result.most_blocks = most_blocks(activity);
  const auto failure = std::ranges::find_if(activity.findings, concerns_results);
  if (failure != activity.findings.end()) result.failure_code = failure->code.text();
  result.is_sound = reply && reply->status == Reply::Status::returned &&
                    reply->cuda_error.empty() && activity.error.empty() &&
                    failure == activity.findings.end();
  if (!result.is_sound) return result;
  result.results = reply->results;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    auto& bytes = result.outputs.emplace_back(problem.tensors[i].bytes());
    if (!bytes.empty()) device.read(addresses[i], bytes);
  }
  return result;
}

}  // namespace rooflab
