#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule sched;
  sched.wait = 1;
  sched.warmup = 2;
  sched.active = 3;
  auto prof = rooflab::profile(program, sched);
  std::ofstream os(file);
  os << rooflab::chrome_trace(prof);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  // device events, stream by stream
  std::map<std::uint64_t, std::vector<const ProfiledEvent*>> streams;
  for (const auto& e : events) {
    if (rooflab::is_device_work(e)) streams[e.stream].push_back(&e);
  }

  auto isKernel = [](const ProfiledEvent* e) { return e->kind == ProfiledEvent::Kind::kernel; };
  std::map<std::pair<std::string, std::string>, KernelPair> table;
  for (auto& [id, v] : streams) {
    std::sort(v.begin(), v.end(), [](auto* a, auto* b) { return a->start_us < b->start_us; });
    for (size_t i = 1; i < v.size(); i++) {
      const auto* a = v[i - 1];
      const auto* b = v[i];
      if (!isKernel(a) || !isKernel(b)) continue;
      KernelPair& p = table[{a->name, b->name}];
      p.first = a->name;
      p.second = b->name;
      p.times++;
      p.total_us += a->duration_us + b->duration_us;
    }
  }

  std::vector<KernelPair> res;
  for (auto& kv : table) res.push_back(kv.second);
  // the map is sorted by name already
  std::stable_sort(res.begin(), res.end(),
                   [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
  return res;
}
