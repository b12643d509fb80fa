#include "simgpu/model/wait_trace.h"

#include <algorithm>
#include <map>

namespace simgpu::model {

void WaitTrace::begin_code() { code_ = started_.size(); }

WaitTrace::Node WaitTrace::start(std::size_t instruction, double time, Node awaited) {
  started_.push_back({static_cast<std::uint32_t>(instruction), awaited, time, 0});
  return static_cast<Node>(started_.size() - 1);
}

WaitTrace::Node WaitTrace::issue(Node node, double cycles) {
  started_[node].issue = cycles;
  return node;
}

void WaitTrace::charge_issue(double cycles) {
  double all = 0;
  for (std::size_t i = code_; i < started_.size(); ++i) all += started_[i].issue;
  if (all <= 0) return;
  for (std::size_t i = code_; i < started_.size(); ++i) {
    if (started_[i].issue > 0) {
      charges_.push_back({started_[i].instruction, cycles * started_[i].issue / all});
    }
  }
}

void WaitTrace::charge_chain(Node last, double from, double to, double cycles) {
  if (last == kNone || to <= from || cycles <= 0) return;
  const double share = cycles / (to - from);
  double end = to;
  for (Node node = last; end > from;) {
    const Started& at = started_[node];
    // What was started before this code was under way from its beginning on; so was what the first
    // of a chain waited for, which nobody knows.
    const bool is_first = node < code_ || at.awaited == kNone;
    const double begin = is_first ? from : std::clamp(at.time, from, end);
    if (end > begin) charges_.push_back({at.instruction, share * (end - begin)});
    end = begin;
    if (is_first) break;
    node = at.awaited;
  }
}

void WaitTrace::charge(Node node, double cycles) {
  if (node != kNone) charges_.push_back({started_[node].instruction, cycles});
}

std::vector<WaitTrace::Charge> WaitTrace::since(std::size_t charges) const {
  std::map<std::uint32_t, double> sums;
  for (std::size_t i = charges; i < charges_.size(); ++i) {
    sums[charges_[i].instruction] += charges_[i].cycles;
  }
  std::vector<Charge> all;
  for (const auto& [instruction, cycles] : sums) all.push_back({instruction, cycles});
  return all;
}

void WaitTrace::charge_like(const std::vector<Charge>& charges, double cycles) {
  double sum = 0;
  for (const Charge& charge : charges) sum += charge.cycles;
  if (sum <= 0 || cycles <= 0) return;
  for (const Charge& charge : charges) {
    charges_.push_back({charge.instruction, charge.cycles * cycles / sum});
  }
}

void WaitTrace::stretch(std::size_t since, double before, double cycles) {
  if (before <= 0) return;
  const double factor = std::max(0.0, 1 + cycles / before);
  for (std::size_t i = since; i < charges_.size(); ++i) charges_[i].cycles *= factor;
}

std::vector<double> WaitTrace::by_instruction() const {
  std::vector<double> cycles(instructions_);
  for (const Charge& charge : charges_) cycles[charge.instruction] += charge.cycles;
  return cycles;
}

}  // namespace simgpu::model
