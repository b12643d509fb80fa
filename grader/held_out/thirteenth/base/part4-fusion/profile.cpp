#include "profile.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace {

using Kind = ProfiledEvent::Kind;
using Events = std::vector<const ProfiledEvent*>;

std::string lowered(std::string_view name) {
  std::string lower;
  for (const char letter : name.substr(0, name.find('<'))) {
    lower += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return lower;
}

bool has_part(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string::npos; });
}

bool is_word_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  std::string word;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (at < name.size() && is_word_letter(name[at])) {
      word += name[at];
      continue;
    }
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    word.clear();
  }
  return false;
}

bool on_device(const ProfiledEvent& event) {
  return event.kind == Kind::kernel || event.kind == Kind::copy || event.kind == Kind::memset;
}

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

Events of_device(const std::vector<ProfiledEvent>& events) {
  Events found;
  for (const ProfiledEvent& event : events) {
    if (on_device(event)) found.push_back(&event);
  }
  std::sort(found.begin(), found.end(), [](const ProfiledEvent* a, const ProfiledEvent* b) {
    return std::tie(a->start_us, a->correlation) < std::tie(b->start_us, b->correlation);
  });
  return found;
}

const ProfiledEvent* issuer_of(const ProfiledEvent& work, const std::vector<ProfiledEvent>& events) {
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::api && event.correlation == work.correlation) return &event;
  }
  return nullptr;
}

GapCause cause_of(double begin, const ProfiledEvent& next, const std::vector<ProfiledEvent>& events) {
  const ProfiledEvent* call = issuer_of(next, events);
  if (call == nullptr) return GapCause::device;
  for (const ProfiledEvent& event : events) {
    if (event.kind != Kind::api || event.name.find("Synchronize") == std::string::npos) continue;
    const double waited = end_of(event);
    if (waited >= begin && waited <= next.start_us && waited <= call->start_us) {
      return GapCause::synchronisation;
    }
  }
  return end_of(*call) > begin ? GapCause::launch : GapCause::device;
}

}  // namespace

Category classify(std::string_view name) {
  const std::string lower = lowered(name);
  if (lower.rfind("memcpy", 0) == 0 || lower.rfind("memset", 0) == 0) return Category::memory;
  if (has_part(lower, {"flash", "fmha", "attention"})) return Category::other;
  if (has_part(lower, {"gemm", "gemv", "matmul", "cutlass", "wmma", "xmma", "splitk"})) {
    return Category::gemm;
  }
  if (has_part(lower, {"softmax"})) return Category::softmax;
  if (has_part(lower, {"layernorm", "layer_norm", "rmsnorm", "rms_norm"})) {
    return Category::layernorm;
  }
  if (has_part(lower, {"elementwise", "pointwise", "vectorized", "unrolled", "triton_poi"}) ||
      has_word(lower, {"add", "sub", "mul", "multiply", "div", "scale", "square", "sqrt", "rsqrt",
                       "pow", "exp", "tanh", "sigmoid", "relu", "gelu", "silu", "cast", "fill"})) {
    return Category::elementwise;
  }
  return Category::other;
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const ProfiledEvent* event : of_device(events)) {
    ++counts.total;
    switch (classify(event->name)) {
      case Category::gemm: ++counts.gemm; break;
      case Category::elementwise: ++counts.elementwise; break;
      case Category::softmax: ++counts.softmax; break;
      case Category::layernorm: ++counts.layernorm; break;
      case Category::memory: ++counts.memory; break;
      case Category::other: ++counts.other; break;
    }
  }
  return counts;
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  std::vector<Summary> summaries;
  std::map<std::string, std::size_t> places;
  double everything = 0;
  for (const ProfiledEvent* event : of_device(events)) {
    const auto [place, is_new] = places.try_emplace(event->name, summaries.size());
    if (is_new) summaries.push_back({.name = event->name});
    Summary& summary = summaries[place->second];
    summary.calls += 1;
    summary.total_us += event->duration_us;
    everything += event->duration_us;
  }
  for (Summary& summary : summaries) {
    summary.mean_us = summary.total_us / summary.calls;
    summary.share = everything > 0 ? summary.total_us / everything : 0;
  }
  std::sort(summaries.begin(), summaries.end(), [](const Summary& a, const Summary& b) {
    if (a.total_us != b.total_us) return a.total_us > b.total_us;
    return a.name < b.name;
  });
  return summaries;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::map<std::string, double> totals;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::kernel) totals[event.name] += event.duration_us;
  }
  std::string top;
  double most = -1;
  for (const auto& [name, total] : totals) {
    if (total > most) {
      most = total;
      top = name;
    }
  }
  return top;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::vector<Gap> gaps;
  const Events work = of_device(events);
  if (work.empty()) return gaps;
  double busy_until = end_of(*work.front());
  for (const ProfiledEvent* next : work) {
    if (next->start_us > busy_until) {
      gaps.push_back({.start_us = busy_until,
                      .duration_us = next->start_us - busy_until,
                      .cause = cause_of(busy_until, *next, events)});
    }
    busy_until = std::max(busy_until, end_of(*next));
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Profile seen =
      rooflab::profile(iteration, {.wait = 1, .warmup = 3, .active = 6});
  const int rounds = seen.iterations;
  WorkloadReport report;
  report.counts = count_by_category(seen.events);
  for (std::int64_t* count :
       {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
        &report.counts.layernorm, &report.counts.memory, &report.counts.other,
        &report.counts.total}) {
    *count /= rounds;
  }
  const Events work = of_device(seen.events);
  double last = 0;
  for (const ProfiledEvent* event : work) {
    report.device_us += event->duration_us / rounds;
    last = std::max(last, end_of(*event));
  }
  if (!work.empty()) report.span_us = (last - work.front()->start_us) / rounds;
  report.top_kernel = top_kernel(seen.events);
  return report;
}
