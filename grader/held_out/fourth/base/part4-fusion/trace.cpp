#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 2;
  schedule.active = 3;
  std::ofstream out(file);
  out << rooflab::chrome_trace(rooflab::profile(program, schedule));
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  std::vector<const ProfiledEvent*> order;
  for (const ProfiledEvent& event : events) {
    if (rooflab::is_device_work(event)) order.push_back(&event);
  }
  std::sort(order.begin(), order.end(), [](const ProfiledEvent* left, const ProfiledEvent* right) {
    return left->start_us < right->start_us;
  });

  std::map<std::uint64_t, const ProfiledEvent*> last;  // of each stream
  std::map<std::pair<std::string, std::string>, KernelPair> found;
  for (const ProfiledEvent* event : order) {
    const ProfiledEvent*& before = last[event->stream];
    if (before && before->kind == ProfiledEvent::Kind::kernel &&
        event->kind == ProfiledEvent::Kind::kernel) {
      KernelPair& pair = found[{before->name, event->name}];
      pair.first = before->name;
      pair.second = event->name;
      pair.times += 1;
      pair.total_us += before->duration_us + event->duration_us;
    }
    before = event;
  }

  std::vector<KernelPair> pairs;
  for (const auto& [names, pair] : found) pairs.push_back(pair);
  std::stable_sort(pairs.begin(), pairs.end(), [](const KernelPair& left, const KernelPair& right) {
    return left.total_us > right.total_us;
  });
  return pairs;
}
