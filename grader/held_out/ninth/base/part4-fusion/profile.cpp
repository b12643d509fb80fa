#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace {

using Kind = ProfiledEvent::Kind;

// A line of the rule in profile.h: a name fits when it contains one of the parts, or when one of
// its words is among the words.
struct Rule {
  Category category;
  std::vector<std::string> parts, words = {};
};

// All lines of the rule but its first, in order. Names are in lower case here.
const std::vector<Rule> kRules = {
    {Category::other, {"flash", "fmha", "attention"}},
    {Category::gemm, {"gemm", "gemv", "matmul", "cutlass", "wmma", "xmma", "splitk"}},
    {Category::softmax, {"softmax"}},
    {Category::layernorm, {"layernorm", "layer_norm", "rmsnorm", "rms_norm"}},
    {Category::elementwise,
     {"elementwise", "pointwise", "vectorized", "unrolled", "triton_poi"},
     {"add", "sub", "mul", "multiply", "div", "scale", "square", "sqrt", "rsqrt", "pow", "exp",
      "tanh", "sigmoid", "relu", "gelu", "silu", "cast", "fill"}}};

// The longest runs of letters and digits.
std::vector<std::string> words_of(const std::string& name) {
  const auto is_word_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  std::vector<std::string> words;
  for (auto at = name.begin(); at != name.end();) {
    const auto begin = std::find_if(at, name.end(), is_word_letter);
    at = std::find_if_not(begin, name.end(), is_word_letter);
    if (begin != at) words.emplace_back(begin, at);
  }
  return words;
}

bool fits(const Rule& rule, const std::string& name) {
  for (const std::string& part : rule.parts) {
    if (name.find(part) != std::string::npos) return true;
  }
  for (const std::string& word : words_of(name)) {
    if (std::ranges::find(rule.words, word) != rule.words.end()) return true;
  }
  return false;
}

}  // namespace

Category classify(std::string_view name) {
  std::string lower(name.substr(0, name.find('<')));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.starts_with("memcpy") || lower.starts_with("memset")) return Category::memory;
  for (const Rule& rule : kRules) {
    if (fits(rule, lower)) return rule.category;
  }
  return Category::other;
}

static std::vector<ProfiledEvent> on_device(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kept;
  for (const auto& e : events) {
    if (e.kind == Kind::kernel || e.kind == Kind::copy || e.kind == Kind::memset) kept.push_back(e);
  }
  return kept;
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const auto& e : on_device(events)) {
    ++counts.total;
    switch (classify(e.name)) {
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
  std::map<std::string, Summary> by_name;
  double all_us = 0;
  for (const auto& e : on_device(events)) {
    Summary& s = by_name[e.name];
    s.name = e.name;
    s.calls += 1;
    s.total_us += e.duration_us;
    all_us += e.duration_us;
  }
  std::vector<Summary> list;
  for (auto& [name, s] : by_name) {
    s.mean_us = s.total_us / s.calls;
    s.share = all_us > 0 ? s.total_us / all_us : 0;
    list.push_back(s);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Summary& l, const Summary& r) { return l.total_us > r.total_us; });
  return list;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kernels;
  for (const auto& e : events) {
    if (e.kind == Kind::kernel) kernels.push_back(e);
  }
  const auto list = summarise(kernels);
  return list.empty() ? std::string() : list.front().name;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  auto work = on_device(events);
  std::sort(work.begin(), work.end(), [](const auto& l, const auto& r) {
    if (l.start_us != r.start_us) return l.start_us < r.start_us;
    return l.correlation < r.correlation;
  });
  std::vector<Gap> gaps;
  if (work.empty()) return gaps;
  double busy_until = work.front().start_us;
  for (const auto& e : work) {
    if (e.start_us > busy_until) {
      Gap gap{busy_until, e.start_us - busy_until, GapCause::device};
      const ProfiledEvent* call = nullptr;
      for (const auto& a : events) {
        if (a.kind == Kind::api && a.correlation == e.correlation) call = &a;
      }
      if (call != nullptr) {
        if (call->start_us + call->duration_us > busy_until) gap.cause = GapCause::launch;
        for (const auto& a : events) {
          if (a.kind != Kind::api || a.name.find("Synchronize") == std::string::npos) continue;
          const double end = a.start_us + a.duration_us;
          if (end >= busy_until && end <= e.start_us && end <= call->start_us) {
            gap.cause = GapCause::synchronisation;
          }
        }
      }
      gaps.push_back(gap);
    }
    busy_until = std::max(busy_until, e.start_us + e.duration_us);
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Profile seen =
      rooflab::profile(iteration, rooflab::Schedule{.wait = 1, .warmup = 3, .active = 6});
  const double n = seen.iterations;
  WorkloadReport report;
  report.counts = count_by_category(seen.events);
  for (std::int64_t* c : {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
                          &report.counts.layernorm, &report.counts.memory, &report.counts.other,
                          &report.counts.total}) {
    *c /= seen.iterations;
  }
  double first = 0, last = 0;
  bool any = false;
  for (const auto& e : on_device(seen.events)) {
    report.device_us += e.duration_us / n;
    const double end = e.start_us + e.duration_us;
    first = any ? std::min(first, e.start_us) : e.start_us;
    last = any ? std::max(last, end) : end;
    any = true;
  }
  report.span_us = (last - first) / n;
  report.top_kernel = top_kernel(seen.events);
  return report;
}
