#include "simgpu/exec/warp_roles.h"

#include <algorithm>

namespace simgpu {
namespace {

/// Of the basic blocks that each warp of a block has entered.
std::vector<std::uint64_t> keys_of(const BlockOfWarps& block) {
  constexpr std::uint64_t kPrime = 0x100'0000'01b3;  // of FNV-1a, whose steps these are
  std::vector<std::uint64_t> keys(block.warps, 0xcbf2'9ce4'8422'2325);
  for (std::size_t at = 0; at < block.entered.size(); ++at) {
    if (block.entered[at] == 0) continue;
    std::uint64_t& key = keys[at % block.warps];
    key = (key ^ at / block.warps) * kPrime;
  }
  return keys;
}

/// The most of one field in the warps of a role.
template <class Field>
std::uint64_t most_of(std::span<const bool> of_role, const Field& field) {
  std::uint64_t most = 0;
  for (std::size_t warp = 0; warp < of_role.size(); ++warp) {
    if (of_role[warp]) most = std::max<std::uint64_t>(most, field(warp));
  }
  return most;
}

}  // namespace

void WarpRole::add(const BlockOfWarps& block, std::span<const bool> of_role) {
  ++blocks;
  entered.resize(block.entered.size() / block.warps);
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const auto by_warp = block.entered.subspan(i * block.warps, block.warps);
    entered[i] += most_of(of_role, [&](std::size_t warp) { return by_warp[warp]; });
  }
  for (const LoadsOfWarps& of : block.loads) {
    LoadCounts& sum = counts_of(loads, of.pc);
    const auto most = [&](std::uint32_t LoadsOfWarp::*field) {
      return most_of(of_role, [&](std::size_t warp) { return of.by_warp[warp].*field; });
    };
    for (std::size_t warp = 0; warp < of_role.size(); ++warp) {
      if (of_role[warp]) sum.at_mbarriers.add_times(of.by_warp[warp].at_mbarriers, 1);
    }
    sum.requests += most(&LoadsOfWarp::requests);
    sum.beyond_l1 += most(&LoadsOfWarp::beyond_l1);
    sum.of_recent += most(&LoadsOfWarp::of_recent);
  }
  slept_ns += most_of(of_role, [&](std::size_t warp) { return block.slept_ns[warp]; });
}

void WarpRole::add_times(const WarpRole& other, std::uint64_t times) {
  blocks += times * other.blocks;
  entered.resize(std::max(entered.size(), other.entered.size()));
  for (std::size_t i = 0; i < other.entered.size(); ++i) entered[i] += times * other.entered[i];
  add_loads(loads, other.loads, times);
  slept_ns += times * other.slept_ns;
}

void WarpRoles::add(const BlockOfWarps& block) {
  std::array<bool, kMostWarpsOfBlock> of_role;
  const std::span<bool> chosen(of_role.data(), block.warps);
  std::ranges::fill(chosen, true);
  all_.add(block, chosen);
  if (too_many_) return;
  const std::vector<std::uint64_t> by_warp = keys_of(block);
  std::vector<std::uint64_t> keys = by_warp;
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::uint64_t key : keys) {
    std::ranges::transform(by_warp, chosen.begin(), [&](std::uint64_t of) { return of == key; });
    role_of(key).add(block, chosen);
  }
  add_mix(keys, 1);
  leave_out_too_many();
}

void WarpRoles::add_times(const WarpRoles& other, std::uint64_t times) {
  all_.add_times(other.all_, times);
  too_many_ = too_many_ || other.too_many_;
  for (const WarpRole& role : other.roles_) role_of(role.key).add_times(role, times);
  for (const Mix& mix : other.mixes_) add_mix(mix.keys, times * mix.blocks);
  leave_out_too_many();
}

WarpRole& WarpRoles::role_of(std::uint64_t key) {
  const auto known = std::ranges::find(roles_, key, &WarpRole::key);
  if (known != roles_.end()) return *known;
  WarpRole& role = roles_.emplace_back();
  role.key = key;
  return role;
}

void WarpRoles::add_mix(const std::vector<std::uint64_t>& keys, std::uint64_t blocks) {
  const auto known = std::ranges::find(mixes_, keys, &Mix::keys);
  if (known != mixes_.end()) {
    known->blocks += blocks;
  } else {
    mixes_.push_back({keys, blocks});
  }
}

/// Whatever the order in which blocks are added.
void WarpRoles::leave_out_too_many() {
  if (roles_.size() > kMostRoles || mixes_.size() > kMostMixes) too_many_ = true;
  if (!too_many_) return;
  roles_.clear();
  mixes_.clear();
}

std::vector<WarpRole> WarpRoles::roles() const {
  if (too_many_) return {all_};
  return roles_;
}

std::vector<WarpRoles::Mix> WarpRoles::mixes() const {
  if (too_many_) return {{{all_.key}, all_.blocks}};
  return mixes_;
}

}  // namespace simgpu
