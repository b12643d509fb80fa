#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 2;
  schedule.active = 3;
  const rooflab::Profile seen = rooflab::profile(program, schedule);
  std::ofstream stream(file);
  stream << rooflab::chrome_trace(seen);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  std::map<std::uint64_t, std::vector<const ProfiledEvent*>> by_stream;
  for (const auto& e : events) {
    if (rooflab::is_device_work(e)) by_stream[e.stream].push_back(&e);
  }
  std::map<std::pair<std::string, std::string>, KernelPair> found;
  for (auto& [stream, list] : by_stream) {
    std::sort(list.begin(), list.end(), [](auto* l, auto* r) { return l->start_us < r->start_us; });
    for (std::size_t i = 1; i < list.size(); ++i) {
      const ProfiledEvent& a = *list[i - 1];
      const ProfiledEvent& b = *list[i];
      if (a.kind != ProfiledEvent::Kind::kernel || b.kind != ProfiledEvent::Kind::kernel) continue;
      KernelPair& pair = found[{a.name, b.name}];
      pair.first = a.name;
      pair.second = b.name;
      pair.times += 1;
      pair.total_us += a.duration_us + b.duration_us;
    }
  }
  std::vector<KernelPair> result;
  for (auto& [names, pair] : found) result.push_back(pair);
  std::sort(result.begin(), result.end(), [](const KernelPair& l, const KernelPair& r) {
    if (l.total_us != r.total_us) return l.total_us > r.total_us;
    return std::tie(l.first, l.second) < std::tie(r.first, r.second);
  });
  return result;
}
