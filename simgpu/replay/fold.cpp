#include "simgpu/replay/fold.h"

#include <algorithm>
#include <bit>

#include "simgpu/replay/shared_image.h"

namespace simgpu::replay {

void add_values(std::vector<RegisterValues>& values, const RegisterValues& written) {
  const auto known = std::ranges::find_if(values, [&](const RegisterValues& one) {
    return one.reg == written.reg && one.name == written.name && one.place == written.place;
  });
  if (known == values.end()) {
    values.push_back(written);
    return;
  }
  RegisterValues merged = written;
  merged.lanes |= known->lanes;
  merged.values.clear();
  merged.updates.clear();
  merged.first.clear();
  const bool is_counted = !written.updates.empty() || !known->updates.empty();
  std::size_t from_old = 0, from_new = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool is_old = (known->lanes >> lane & 1U) != 0;
    const bool is_new = (written.lanes >> lane & 1U) != 0;
    if (is_new || is_old) {
      const RegisterValues& from = is_new ? written : *known;
      const std::size_t at = is_new ? from_new : from_old;
      merged.values.push_back(from.values.at(at));
      if (is_counted) {
        merged.updates.push_back(from.updates.empty() ? 0 : from.updates.at(at));
        merged.first.push_back(from.first.empty() ? from.values.at(at) : from.first.at(at));
      }
    }
    from_old += is_old ? 1 : 0;
    from_new += is_new ? 1 : 0;
  }
  values.erase(known);
  values.push_back(std::move(merged));
}

void add_values(std::vector<RegisterValues>& values, const std::vector<RegisterValues>& written) {
  for (const RegisterValues& one : written) add_values(values, one);
}

void add_step(std::vector<RegisterValues>& values, const Step& step) {
  add_values(values, step.before);
  add_values(values, step.registers);
  std::erase_if(values, [&](const RegisterValues& one) {
    return one.name != kNone && std::ranges::count(step.unknown_now, one.name) != 0;
  });
}

void add_left_out(std::vector<LeftOut>& left_out, const std::vector<LeftOut>& later) {
  for (const LeftOut& one : later) {
    const auto known = std::ranges::find(left_out, one.place, &LeftOut::place);
    if (known == left_out.end()) {
      left_out.push_back(one);
    } else {
      known->number = one.number;
    }
  }
}

void add_left_out(std::vector<LeftOut>& left_out, const Step& step) {
  add_left_out(left_out, step.left_out);
  if (step.place != kNone) add_left_out(left_out, {{step.place, step.number}});
}

void add_stores(std::vector<SharedBytes>& stores, const std::vector<SharedBytes>& later) {
  if (later.empty()) return;
  if (stores.empty()) {
    stores = later;
    return;
  }
  SharedImage image;
  image.store(stores);
  image.store(later);
  stores = image.runs();
}

}  // namespace simgpu::replay
