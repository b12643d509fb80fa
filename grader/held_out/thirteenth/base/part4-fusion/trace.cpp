#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 2;
  schedule.active = 3;
  const std::string text = rooflab::chrome_trace(rooflab::profile(program, schedule));
  std::ofstream out(file, std::ios::binary);
  out << text;
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  // Each stream's work by its start.
  std::map<std::uint64_t, std::map<double, const ProfiledEvent*>> streams;
  for (const ProfiledEvent& event : events) {
    if (rooflab::is_device_work(event)) streams[event.stream].emplace(event.start_us, &event);
  }

  std::map<std::pair<std::string, std::string>, KernelPair> pairs;
  for (const auto& [stream, work] : streams) {
    const ProfiledEvent* before = nullptr;
    for (const auto& [start, event] : work) {
      const bool is_kernel = event->kind == ProfiledEvent::Kind::kernel;
      if (is_kernel && before != nullptr) {
        KernelPair& pair = pairs[{before->name, event->name}];
        pair.first = before->name;
        pair.second = event->name;
        pair.times += 1;
        pair.total_us += before->duration_us + event->duration_us;
      }
      before = is_kernel ? event : nullptr;
    }
  }

  std::vector<KernelPair> list;
  for (const auto& [names, pair] : pairs) list.push_back(pair);
  std::stable_sort(list.begin(), list.end(), [](const KernelPair& a, const KernelPair& b) {
    return a.total_us > b.total_us;
  });
  return list;
}
