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
  std::string plain(name.substr(0, name.find('<')));
  for (char& c : plain) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (plain.starts_with("memcpy") || plain.starts_with("memset")) return Category::memory;
  for (const Rule& rule : kRules) {
    if (fits(rule, plain)) return rule.category;
  }
  return Category::other;
}

// by start, and of equal starts the smallest correlation first
static std::vector<ProfiledEvent> on_device(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kept;
  for (const ProfiledEvent& e : events) {
    if (e.kind == Kind::kernel || e.kind == Kind::copy || e.kind == Kind::memset) kept.push_back(e);
  }
  std::sort(kept.begin(), kept.end(), [](const ProfiledEvent& a, const ProfiledEvent& b) {
    return a.start_us != b.start_us ? a.start_us < b.start_us : a.correlation < b.correlation;
  });
  return kept;
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts n;
  for (const ProfiledEvent& e : on_device(events)) {
    switch (classify(e.name)) {
      case Category::gemm: n.gemm++; break;
      case Category::elementwise: n.elementwise++; break;
      case Category::softmax: n.softmax++; break;
      case Category::layernorm: n.layernorm++; break;
      case Category::memory: n.memory++; break;
      case Category::other: n.other++; break;
    }
    n.total++;
  }
  return n;
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  std::map<std::string, Summary> table;
  double everything = 0;
  for (const ProfiledEvent& e : on_device(events)) {
    Summary& line = table[e.name];
    line.name = e.name;
    line.calls += 1;
    line.total_us += e.duration_us;
    everything += e.duration_us;
  }
  std::vector<Summary> lines;
  for (auto& [name, line] : table) {
    line.mean_us = line.total_us / line.calls;
    line.share = line.total_us / everything;
    lines.push_back(line);
  }
  // the map has them in the order of their names already
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Summary& a, const Summary& b) { return a.total_us > b.total_us; });
  return lines;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kernels;
  for (const ProfiledEvent& e : events) {
    if (e.kind == Kind::kernel) kernels.push_back(e);
  }
  const std::vector<Summary> lines = summarise(kernels);
  return lines.empty() ? "" : lines.front().name;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::vector<Gap> gaps;
  double busy_until = 0;
  bool begun = false;
  for (const ProfiledEvent& e : on_device(events)) {
    if (begun && e.start_us > busy_until) {
      Gap gap;
      gap.start_us = busy_until;
      gap.duration_us = e.start_us - busy_until;
      const ProfiledEvent* call = nullptr;
      for (const ProfiledEvent& api : events) {
        if (api.kind == Kind::api && api.correlation == e.correlation) call = &api;
      }
      if (call != nullptr) {
        if (call->start_us + call->duration_us > busy_until) gap.cause = GapCause::launch;
        for (const ProfiledEvent& api : events) {
          if (api.kind != Kind::api || api.name.find("Synchronize") == std::string::npos) continue;
          const double end = api.start_us + api.duration_us;
          if (end >= busy_until && end <= e.start_us && end <= call->start_us) {
            gap.cause = GapCause::synchronisation;
          }
        }
      }
      gaps.push_back(gap);
    }
    const double end = e.start_us + e.duration_us;
    busy_until = begun ? std::max(busy_until, end) : end;
    begun = true;
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Profile seen =
      rooflab::profile(iteration, {.wait = 1, .warmup = 3, .active = 6});
  const double n = seen.iterations;
  WorkloadReport report;
  report.counts = count_by_category(seen.events);
  for (std::int64_t* c : {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
                          &report.counts.layernorm, &report.counts.memory, &report.counts.other,
                          &report.counts.total}) {
    *c /= seen.iterations;
  }
  const std::vector<ProfiledEvent> device = on_device(seen.events);
  double last = 0;
  for (const ProfiledEvent& e : device) {
    report.device_us += e.duration_us;
    last = std::max(last, e.start_us + e.duration_us);
  }
  report.device_us /= n;
  if (!device.empty()) report.span_us = (last - device.front().start_us) / n;
  report.top_kernel = top_kernel(seen.events);
  return report;
}
