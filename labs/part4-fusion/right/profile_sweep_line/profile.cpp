#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <tuple>
#include <utility>

namespace {

using Kind = ProfiledEvent::Kind;
using Events = std::vector<ProfiledEvent>;

bool runs_on_device(const ProfiledEvent& e) {
  switch (e.kind) {
    case Kind::kernel:
    case Kind::copy:
    case Kind::memset:
      return true;
    default:
      return false;
  }
}

double stop(const ProfiledEvent& e) { return e.start_us + e.duration_us; }

Events device_events(const Events& events) {
  Events found;
  for (const auto& e : events)
    if (runs_on_device(e)) found.push_back(e);
  return found;
}

/// The lines of the header, in their order.
const std::vector<std::pair<std::regex, Category>>& rules() {
  static const std::vector<std::pair<std::regex, Category>> all = {
      {std::regex("^(memcpy|memset).*"), Category::memory},
      {std::regex(".*(flash|fmha|attention).*"), Category::other},
      {std::regex(".*(gemm|gemv|matmul|cutlass|wmma|xmma|splitk).*"), Category::gemm},
      {std::regex(".*softmax.*"), Category::softmax},
      {std::regex(".*(layernorm|layer_norm|rmsnorm|rms_norm).*"), Category::layernorm},
      {std::regex(".*(elementwise|pointwise|vectorized|unrolled|triton_poi).*"),
       Category::elementwise},
      {std::regex("(.*[^a-z0-9])?(add|cast|div|exp|fill|gelu|mul|multiply|pow|relu|rsqrt|scale|"
                  "sigmoid|silu|sqrt|square|sub|tanh)([^a-z0-9].*)?"),
       Category::elementwise},
  };
  return all;
}

/// Names that sum up to what, in the order of names.
std::map<std::string, Summary> by_name(const Events& events) {
  std::map<std::string, Summary> all;
  for (const auto& e : events) {
    Summary& summary = all[e.name];
    summary.name = e.name;
    summary.calls += 1;
    summary.total_us += e.duration_us;
  }
  return all;
}

struct Host {
  std::map<std::uint64_t, const ProfiledEvent*> calls;  // by correlation
  std::vector<double> waited_until;                     // ends of synchronisations, rising

  explicit Host(const Events& events) {
    for (const auto& e : events) {
      if (e.kind != Kind::api) continue;
      calls.try_emplace(e.correlation, &e);
      if (e.name.find("Synchronize") != std::string::npos) waited_until.push_back(stop(e));
    }
    std::sort(waited_until.begin(), waited_until.end());
  }

  GapCause cause(double from, double to, std::uint64_t correlation) const {
    const auto call = calls.find(correlation);
    if (call == calls.end()) return GapCause::device;
    const auto wait = std::lower_bound(waited_until.begin(), waited_until.end(), from);
    const bool waited =
        wait != waited_until.end() && *wait <= to && *wait <= call->second->start_us;
    if (waited) return GapCause::synchronisation;
    return stop(*call->second) > from ? GapCause::launch : GapCause::device;
  }
};

}  // namespace

Category classify(std::string_view name) {
  std::string own;
  for (const char c : name) {
    if (c == '<') break;
    // A line break would end what '.' matches.
    own += c == '\n' || c == '\r' ? ' '
                                  : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const auto& [pattern, category] : rules()) {
    if (std::regex_match(own, pattern)) return category;
  }
  return Category::other;
}

CategoryCounts count_by_category(const Events& events) {
  CategoryCounts counts;
  const std::map<Category, std::int64_t CategoryCounts::*> member = {
      {Category::gemm, &CategoryCounts::gemm},
      {Category::elementwise, &CategoryCounts::elementwise},
      {Category::softmax, &CategoryCounts::softmax},
      {Category::layernorm, &CategoryCounts::layernorm},
      {Category::memory, &CategoryCounts::memory},
      {Category::other, &CategoryCounts::other},
  };
  for (const auto& e : device_events(events)) {
    counts.*member.at(classify(e.name)) += 1;
    counts.total += 1;
  }
  return counts;
}

std::vector<Summary> summarise(const Events& events) {
  std::vector<Summary> list;
  double everything = 0;
  for (auto& [name, summary] : by_name(device_events(events))) {
    everything += summary.total_us;
    summary.mean_us = summary.total_us / static_cast<double>(summary.calls);
    list.push_back(std::move(summary));
  }
  for (Summary& summary : list) summary.share = everything > 0 ? summary.total_us / everything : 0;
  std::stable_sort(list.begin(), list.end(),
                   [](const Summary& a, const Summary& b) { return a.total_us > b.total_us; });
  return list;
}

std::string top_kernel(const Events& events) {
  Events kernels;
  std::copy_if(events.begin(), events.end(), std::back_inserter(kernels),
               [](const ProfiledEvent& e) { return e.kind == Kind::kernel; });
  const Summary* best = nullptr;
  const auto all = by_name(kernels);
  for (const auto& [name, summary] : all) {
    if (best == nullptr || summary.total_us > best->total_us) best = &summary;
  }
  return best == nullptr ? "" : best->name;
}

std::vector<Gap> launch_gaps(const Events& events) {
  Events work = device_events(events);
  std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start_us, a.correlation) < std::tie(b.start_us, b.correlation);
  });
  const Host host(events);
  std::vector<Gap> gaps;
  std::optional<double> busy_until;
  for (const auto& e : work) {
    if (busy_until && e.start_us > *busy_until) {
      gaps.push_back({*busy_until, e.start_us - *busy_until,
                      host.cause(*busy_until, e.start_us, e.correlation)});
    }
    busy_until = std::max(busy_until.value_or(stop(e)), stop(e));
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  constexpr int kActive = 6;
  const rooflab::Profile seen =
      rooflab::profile(iteration, {.wait = 1, .warmup = 3, .active = kActive});
  WorkloadReport report;
  report.counts = count_by_category(seen.events);
  for (std::int64_t* count : {&report.counts.gemm, &report.counts.elementwise,
                              &report.counts.softmax, &report.counts.layernorm,
                              &report.counts.memory, &report.counts.other, &report.counts.total}) {
    *count /= kActive;
  }
  const Events work = device_events(seen.events);
  if (work.empty()) return report;
  double first = work.front().start_us, last = stop(work.front());
  for (const auto& e : work) {
    report.device_us += e.duration_us / kActive;
    first = std::min(first, e.start_us);
    last = std::max(last, stop(e));
  }
  report.span_us = (last - first) / kActive;
  report.top_kernel = top_kernel(seen.events);
  return report;
}
