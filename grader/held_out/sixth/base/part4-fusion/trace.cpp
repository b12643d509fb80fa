#include "trace.h"

#include <algorithm>
#include <fstream>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 2;
  schedule.active = 3;
  rooflab::Profile seen = rooflab::profile(program, schedule);
  std::ofstream out(file);
  out << rooflab::chrome_trace(seen);
}

static bool on_device(const ProfiledEvent& e) {
  if (e.kind == ProfiledEvent::Kind::kernel) return true;
  if (e.kind == ProfiledEvent::Kind::copy) return true;
  return e.kind == ProfiledEvent::Kind::memset;
}

static bool runs_before(const ProfiledEvent& a, const ProfiledEvent& b) {
  if (a.stream != b.stream) return a.stream < b.stream;
  return a.start_us < b.start_us;
}

static bool listed_before(const KernelPair& a, const KernelPair& b) {
  if (a.total_us != b.total_us) return a.total_us > b.total_us;
  if (a.first != b.first) return a.first < b.first;
  return a.second < b.second;
}

/* Place of the pair of these names in the list; a new one is put at its end. */
static size_t place_of(std::vector<KernelPair>& pairs, const std::string& first,
                       const std::string& second) {
  size_t i;
  for (i = 0; i < pairs.size(); i++) {
    if (pairs[i].first == first && pairs[i].second == second) return i;
  }
  KernelPair fresh;
  fresh.first = first;
  fresh.second = second;
  pairs.push_back(fresh);
  return i;
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> device;
  std::vector<KernelPair> pairs;
  size_t i;

  for (i = 0; i < events.size(); i++) {
    if (on_device(events[i])) device.push_back(events[i]);
  }
  std::sort(device.begin(), device.end(), runs_before);

  for (i = 1; i < device.size(); i++) {
    const ProfiledEvent& a = device[i - 1];
    const ProfiledEvent& b = device[i];
    if (a.stream != b.stream) continue;
    if (a.kind != ProfiledEvent::Kind::kernel) continue;
    if (b.kind != ProfiledEvent::Kind::kernel) continue;
    KernelPair& pair = pairs[place_of(pairs, a.name, b.name)];
    pair.times += 1;
    pair.total_us += a.duration_us + b.duration_us;
  }
  std::sort(pairs.begin(), pairs.end(), listed_before);
  return pairs;
}
