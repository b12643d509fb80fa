#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "labs/toolkit/profiler/table.h"
#include "labs/toolkit/profiler/text_table.h"

namespace rooflab {
namespace {

using Kind = ProfiledEvent::Kind;

double per_second(double stated, double counted, double time_us) {
  if (!(time_us > 0)) return 0;
  return (stated > 0 ? stated : counted) / (time_us * 1e-6);
}

/// "-" for a rate that nobody knows.
std::string share_of(double rate, double peak) { return rate > 0 ? share_text(rate, peak) : "-"; }

bool is_iteration(const ProfiledEvent& event) {
  return event.kind == Kind::range && event.range == ProfiledEvent::kNoRange &&
         event.name.starts_with("iteration ");
}

/// Sums over a profile, by the name of a range and, for its own kernels, their names.
class Sums {
 public:
  explicit Sums(const Profile& profile) : profile_(profile) {
    for (const ProfiledEvent& event : profile.events) {
      if (event.kind == Kind::range && !is_iteration(event)) add_range(event);
      if (is_device_work(event)) add_work(event);
    }
  }

  std::vector<Utilisation> in_order() {
    std::vector<Utilisation> all;
    for (const std::string& name : order_) {
      Utilisation& range = ranges_[name];
      if (range.time_us == 0) continue;
      all.push_back(range);
      append_kernels(name, range, all);
    }
    append_kernels("", {}, all);
    return all;
  }

 private:
  void add_range(const ProfiledEvent& event) {
    if (!ranges_.contains(event.name)) order_.push_back(event.name);
    Utilisation& range = ranges_[event.name];
    range.name = event.name;
    range.is_range = true;
    ++range.calls;
    range.theoretical_flops += event.theoretical_flops;
    range.theoretical_bytes += event.theoretical_bytes;
  }

  void add_work(const ProfiledEvent& event) {
    bool innermost = true;
    std::set<std::string> counted;  // a range within one of its own name counts once
    for (std::ptrdiff_t at = event.range; at != ProfiledEvent::kNoRange;
         at = profile_.events[static_cast<std::size_t>(at)].range) {
      const ProfiledEvent& range = profile_.events[static_cast<std::size_t>(at)];
      if (is_iteration(range)) break;
      if (counted.insert(range.name).second) add(event, ranges_[range.name]);
      if (innermost) add_to_kernels(event, range.name);
      innermost = false;
    }
    if (innermost) add_to_kernels(event, "");
  }

  void add_to_kernels(const ProfiledEvent& event, const std::string& range) {
    Utilisation& kernel = kernels_[{range, event.name}];
    kernel.name = event.name;
    ++kernel.calls;
    add(event, kernel);
  }

  static void add(const ProfiledEvent& event, Utilisation& to) {
    to.time_us += event.duration_us;
    to.counted_flops += event.flops;
    to.counted_bytes += event.dram_bytes;
  }

  void append_kernels(const std::string& range_name, const Utilisation& range,
                      std::vector<Utilisation>& all) {
    for (auto& [key, kernel] : kernels_) {
      if (key.first != range_name) continue;
      const bool only_work = kernel.calls == range.calls && kernel.time_us == range.time_us;
      if (only_work) {
        kernel.theoretical_flops = range.theoretical_flops;
        kernel.theoretical_bytes = range.theoretical_bytes;
      }
      all.push_back(kernel);
    }
  }

  const Profile& profile_;
  std::vector<std::string> order_;
  std::map<std::string, Utilisation> ranges_;
  std::map<std::pair<std::string, std::string>, Utilisation> kernels_;  ///< by range and name
};

}  // namespace

double Utilisation::flops_per_second() const {
  return per_second(theoretical_flops, counted_flops, time_us);
}
double Utilisation::bytes_per_second() const {
  return per_second(theoretical_bytes, counted_bytes, time_us);
}

std::vector<Utilisation> utilisations(const Profile& profile) { return Sums(profile).in_order(); }

std::string utilisation_table(const Profile& profile, const Gpu& gpu) {
  if (!(gpu.flops_per_second > 0) || !(gpu.bytes_per_second > 0)) {
    throw std::invalid_argument(
        "a table of utilisation needs the GPU's peak FLOP/s and bytes/s, both positive");
  }
  TextTable text({"Name", "Calls", "CUDA total", "FLOPs", "counted", "FLOP/s", "of peak", "Bytes",
                  "counted", "Bytes/s", "of bandwidth"});
  for (const Utilisation& one : utilisations(profile)) {
    text.add({(one.is_range ? "" : "  ") + one.name, std::to_string(one.calls),
              time_text(one.time_us), amount_text(one.theoretical_flops),
              amount_text(one.counted_flops), amount_text(one.flops_per_second()),
              share_of(one.flops_per_second(), gpu.flops_per_second),
              amount_text(one.theoretical_bytes), amount_text(one.counted_bytes),
              amount_text(one.bytes_per_second()),
              share_of(one.bytes_per_second(), gpu.bytes_per_second)});
  }
  std::string result = text.text();
  result +=
      "FLOPs and Bytes are what a range states; rates are of these, else of what was counted\n";
  if (profile.modelled) result += "Times are modelled: " + profile.device.name + "\n";
  return result;
}

}  // namespace rooflab
