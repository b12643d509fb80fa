#include "grader/device/sim/further_calls.h"

#include <algorithm>
#include <utility>

#include "grader/contract/elements.h"
#include "grader/device/result_findings.h"
#include "grader/device/sim/sim_call.h"

namespace rooflab {
namespace {

/// The beginning of every output of a call.
std::vector<simgpu::ByteRange> beginnings_of_outputs(const Problem& problem,
                                                     const std::vector<std::uint64_t>& addresses) {
  constexpr std::uint64_t kEnough = 4096;
  std::vector<simgpu::ByteRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.role != Role::output || tensor.bytes() == 0) continue;
    ranges.push_back({addresses[i], std::min<std::uint64_t>(tensor.bytes(), kEnough)});
  }
  return ranges;
}

/// Takes over how a call failed, and what was found in it.
bool take_failure(RunOutcome& outcome, RunOutcome& first) {
  auto& findings = outcome.activity.findings;
  const bool failed = outcome.end != RunOutcome::End::returned || !outcome.cuda_error.empty() ||
                      !outcome.activity.error.empty() ||
                      std::ranges::any_of(findings, concerns_results);
  for (simgpu::Finding& finding : findings) {
    const bool is_leak = finding.kind() == simgpu::FindingKind::leak;  // the first call's are told
    if (!is_leak) first.activity.findings.push_back(std::move(finding));
  }
  if (!failed) return false;
  first.end = outcome.end;
  first.detail = outcome.detail;
  first.thrown = outcome.thrown;
  first.killer = outcome.killer;
  first.cuda_error = outcome.cuda_error;
  first.activity.error = outcome.activity.error;
  return true;
}

}  // namespace

FurtherCalls::FurtherCalls(simgpu::DeviceProcess& device, GuestProcess& guest,
                           const RunRequest& request, const Call& first,
                           const std::vector<std::uint64_t>& addresses)
    : device_(device), guest_(guest), request_(request), first_(first) {
  keep(*request.problem, addresses);
}

void FurtherCalls::make(RunOutcome& first) {
  if (request_.timed) {
    device_.check_from_now_on(instruction_budget(request_, true), kHostCallLimit);
  }
  for (std::size_t i = 0; i < request_.further.size() && first.failed_call == 0; ++i) {
    FreshCall fresh;
    fresh.number = static_cast<int>(i) + 2;
    fresh.problem = request_.fresh(static_cast<int>(i));
    make(fresh, first);
  }
}

void FurtherCalls::make(FreshCall& fresh, RunOutcome& first) {
  const auto index = static_cast<std::size_t>(fresh.number - 2);
  poison_outputs();
  const std::size_t number = place(fresh.problem, request_.further[index]);
  const bool is_last = index + 1 == request_.further.size();
  RunOutcome outcome = call_with(fresh.problem, places_[number], is_last);
  first.printed = outcome.printed;
  if (take_failure(outcome, first)) {
    first.failed_call = fresh.number;
    return;
  }
  fresh.wrote_to_earlier = has_written_to_any_but(number);
  fresh.outputs = std::move(outcome.outputs);
  fresh.results = std::move(outcome.results);
  first.fresh.push_back(std::move(fresh));
}

/// Puts the tensors of a call where it gets them. @return the call that first had these addresses
std::size_t FurtherCalls::place(const Problem& problem, const FurtherCall& further) {
  if (further.at) {
    replace_tensors(device_, problem, places_[*further.at]);
    return *further.at;
  }
  keep(problem, place_tensors(device_, problem));
  return places_.size() - 1;
}

/// @param is_last the guest is ended behind it
RunOutcome FurtherCalls::call_with(const Problem& problem,
                                   const std::vector<std::uint64_t>& addresses, bool is_last) {
  RunRequest request = request_;
  request.problem = &problem;
  Call call = call_for(request, addresses);  // scalars are drawn with the inputs
  call.gives_stream = first_.gives_stream;
  call.holds_to_stream = first_.holds_to_stream;
  call.stream = first_.stream;
  device_.mark();
  note_callers_work(device_, request, addresses);
  const std::optional<Reply> reply = guest_.call(call);
  RunOutcome outcome;
  const bool has_returned =
      reply && reply->status == Reply::Status::returned && reply->cuda_error.empty();
  if (is_last || !has_returned) {
    classify(reply, guest_.talked_nonsense(), guest_.end(), outcome);
  }
  if (has_returned) outcome.results = reply->results;
  collect(device_, request, addresses, outcome);
  return outcome;
}

void FurtherCalls::keep(const Problem& problem, const std::vector<std::uint64_t>& addresses) {
  places_.push_back(addresses);
  outputs_.push_back(beginnings_of_outputs(problem, addresses));
}

/// What a call stores to the arrays of an earlier one, to which it has no right, can be seen then.
void FurtherCalls::poison_outputs() {
  for (const auto& outputs : outputs_) {
    for (const simgpu::ByteRange& range : outputs) {
      device_.fill(range.address, std::to_integer<std::uint8_t>(kPoisonByte), range.bytes);
    }
  }
}

bool FurtherCalls::has_written_to_any_but(std::size_t number) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (i == number) continue;
    for (const simgpu::ByteRange& range : outputs_[i]) {
      std::vector<std::byte> bytes(range.bytes);
      device_.read(range.address, bytes);
      if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != kPoisonByte; })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace rooflab
