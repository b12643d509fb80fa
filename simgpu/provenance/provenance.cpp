#include "simgpu/provenance/provenance.h"

#include <algorithm>
#include <tuple>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/messages.h"
#include "simgpu/exec/thread_block.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostLoads = std::size_t{1} << 16, kMostSteps = std::size_t{1} << 20;

Dim3 place_in(const Dim3& shape, std::uint64_t number) {
  const std::uint64_t row = std::max<std::uint64_t>(shape.x, 1);
  const std::uint64_t column = std::max<std::uint64_t>(shape.y, 1);
  return {static_cast<std::uint32_t>(number % row),
          static_cast<std::uint32_t>(number / row % column),
          static_cast<std::uint32_t>(number / row / column)};
}

bool is_of_toolkit(const std::string& file) { return file.starts_with("/usr/"); }

/// The innermost line that is not in the headers of CUDA.
std::pair<std::string, std::uint32_t> line_of(const KernelInfo& kernel, std::uint32_t index) {
  const AccessSite site = simgpu::site_of(kernel, index);
  if (!is_of_toolkit(site.file)) return {site.file, site.line};
  for (const InlinedCall& call : site.inlined_at) {
    if (!is_of_toolkit(call.file)) return {call.file, call.line};
  }
  return {site.file, site.line};
}

}  // namespace

void Provenance::begin_launch(const LaunchContext& launch) {
  launch_ = &launch;
  memory_ = &launch.memory;
  rules_.clear();
  rules_.resize(launch.kernel.code.size());
  site_numbers_.assign(launch.kernel.code.size(), 0);
  blocks_.clear();
  launches_.push_back({launch.request.grid, launch.request.block});
}

/// A block that begins has nothing of one of the same number.
void Provenance::begin_block(std::uint64_t block) {
  std::erase_if(blocks_, [&](const auto& known) { return known.second->block == block; });
}

BlockOrigins& Provenance::block_of(const Warp& warp) {
  const std::uint64_t block = warp.block->position.block();
  const auto known = std::ranges::find(blocks_, static_cast<const void*>(warp.block),
                                       &decltype(blocks_)::value_type::first);
  if (known != blocks_.end() && known->second->block == block) return *known->second;
  auto begun = std::make_unique<BlockOrigins>(block, warps_of_block(launch_->request),
                                              launch_->kernel.registers.size());
  if (known != blocks_.end()) {
    known->second = std::move(begun);
    return *known->second;
  }
  blocks_.emplace_back(warp.block, std::move(begun));
  return *blocks_.back().second;
}

InstructionOrigins& Provenance::rule_of(std::uint32_t index) {
  std::unique_ptr<InstructionOrigins>& rule = rules_[index];
  if (!rule) {
    rule = std::make_unique<InstructionOrigins>(origins_of_instruction(launch_->kernel, index));
  }
  return *rule;
}

std::uint32_t Provenance::site_number(std::uint32_t index) {
  std::uint32_t& number = site_numbers_[index];
  if (number != 0) return number;
  const auto line = line_of(launch_->kernel.info, index);
  const auto [known, is_new] =
      known_sites_.emplace(line, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(line);
  return number = known->second;
}

Provenance::Site Provenance::site_of(const Lowered& in, const Warp& warp) {
  return {site_number(in.index), warp.block->position.block(), warp.index * kWarpSize};
}

Provenance::Event Provenance::event_of(const Site& site, unsigned lane,
                                       std::uint64_t address) const {
  return {{.address = address,
           .block = site.block,
           .thread = site.first_thread + lane,
           .launch = static_cast<std::uint32_t>(launches_.size() - 1),
           .site = site.number}};
}

StoreNote Provenance::note_of(const Site& site, unsigned lane) const {
  return {.block = site.block,
          .thread = site.first_thread + lane,
          .launch = static_cast<std::uint32_t>(launches_.size() - 1),
          .site = site.number};
}

void Provenance::before(const Lowered& in, const Warp& warp, std::uint32_t lanes) {
  InstructionOrigins& rule = rule_of(in.index);
  switch (rule.rule) {
    case OriginRule::moved:
      if (rule.has_moves) return;
      rule.moves = find_byte_moves(launch_->kernel, in, warp, rule.operands, rule.results[0]);
      rule.has_moves = true;
      return;
    case OriginRule::chosen:
      step_.predicate = predicate(warp, in.c);
      return;
    case OriginRule::shuffled:
    case OriginRule::of_lanes:
      look_at_lanes(in, warp, lanes, rule);
      return;
    case OriginRule::loaded:
    case OriginRule::stored:
    case OriginRule::atomic:
    case OriginRule::matrices_loaded:
    case OriginRule::matrices_stored:
      look_at_addresses(in, warp, rule);
      return;
    case OriginRule::tile_loaded:
    case OriginRule::tile_stored:
      step_.addresses[0] =
          slot<std::uint64_t>(warp, in.a)[0] + static_cast<std::uint64_t>(in.immediate);
      step_.sources[0] = slot<std::uint32_t>(warp, in.b)[0];
      return;
    case OriginRule::copied_later:
    case OriginRule::copied_in_bulk:
      look_at_copies(in, warp, lanes, rule);
      return;
    case OriginRule::called:
      step_.call = &launch_->kernel.call_sites[in.option];
      if (lanes != 0) {
        step_.stack_pointer = slot<std::uint32_t>(
            warp, launch_->kernel.stack_pointer)[static_cast<unsigned>(std::countr_zero(lanes))];
      }
      return;
    case OriginRule::left:
      step_.call = &launch_->kernel.call_sites[warp.calls.last().call->option];
      step_.stack_pointer = warp.calls.last().stack_pointer;
      return;
    default:
      return;
  }
}

void Provenance::after(const Lowered& in, const Warp& warp, std::uint32_t lanes) {
  const InstructionOrigins& rule = rule_of(in.index);
  if (rule.rule == OriginRule::none || lanes == 0) return;
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  switch (rule.rule) {
    case OriginRule::none:
      return;
    case OriginRule::cleared:
      return set_all(rule, own, lanes, OriginSets::kNone);
    case OriginRule::lost:
      lost_ = true;
      [[fallthrough]];
    case OriginRule::unknown:
      return set_all(rule, own, lanes, OriginSets::kUnknown);
    case OriginRule::whole:
    case OriginRule::halves:
    case OriginRule::packed:
    case OriginRule::moved:
    case OriginRule::chosen:
      return compute(rule, own, lanes);
    case OriginRule::shuffled:
      return shuffle(rule, own, lanes, warp);
    case OriginRule::of_lanes:
      return unite_lanes(rule, own, lanes, warp);
    case OriginRule::transposed:
      return transpose(rule, own);
    case OriginRule::loaded:
    case OriginRule::stored:
      return access(rule, site_of(in, warp), warp, lanes);
    case OriginRule::atomic:
      return update(rule, in, site_of(in, warp), warp, lanes);
    case OriginRule::matrices_loaded:
    case OriginRule::matrices_stored:
      return move_matrices(rule, in, site_of(in, warp), warp);
    case OriginRule::tile_loaded:
    case OriginRule::tile_stored:
      return move_tile(rule, in, site_of(in, warp), warp);
    case OriginRule::multiplied:
      return multiply(rule, in, own);
    case OriginRule::copied_later:
      return copy_later(rule, site_of(in, warp), warp, lanes);
    case OriginRule::copied_in_bulk:
      return copy_in_bulk(site_of(in, warp), warp, lanes);
    case OriginRule::copies_closed:
      return own.copies.commit(lanes);
    case OriginRule::copies_awaited:
      if (launch_->kernel.info.instructions[in.index].async_step == AsyncStep::wait_all) {
        own.copies.commit(lanes);
      }
      return await_copies(own, block, lanes, in.option);
    case OriginRule::copies_arriving:
      own.copies.commit(lanes);
      return await_copies(own, block, lanes, 0);
    case OriginRule::called:
      return call(own, lanes);
    case OriginRule::left:
      return leave(own, lanes);
  }
}

void Provenance::host_wrote(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 20;
  if (host_knows_) {
    stored_unknown(address, bytes);
  } else if (bytes <= kMostCounted) {
    global_.fill(values_, address, bytes, OriginSets::kOutside);
  } else {
    global_.forget(address, bytes);
  }
}

void Provenance::cleared(std::uint64_t address, std::uint64_t bytes) {
  global_.fill(values_, address, bytes, OriginSets::kNone);
}

void Provenance::stored_unknown(std::uint64_t address, std::uint64_t bytes) {
  global_.fill(values_, address, bytes, OriginSets::kUnknown);
}

void Provenance::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  constexpr std::uint64_t kPiece = 64;  // of which one event is made
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
  if (bytes > kMost) return stored_unknown(to, bytes);
  for (std::uint64_t piece = 0; piece < bytes; piece += kPiece) {
    Event event{{.address = from + piece}};
    const std::uint64_t end = std::min(bytes, piece + kPiece);
    for (std::uint64_t at = piece; at < end;) {
      const bool is_word =
          (to + at) % kOriginWord == 0 && (from + at) % kOriginWord == 0 && end - at >= kOriginWord;
      const unsigned count = is_word ? kOriginWord : 1;
      global_.store(values_, to + at, count, load_global(event, from + at, count), {});
      at += count;
    }
  }
}

OriginSet Provenance::read(std::uint64_t address, unsigned bytes) {
  Event event{{.address = address}};
  return values_.used(load_global(event, address, bytes));
}

void Provenance::computed(std::uint64_t address, unsigned bytes, OriginSet set) {
  global_.store(values_, address, bytes, set, {});
}

MemoryOrigin Provenance::origin_of(std::uint64_t address, std::uint64_t bytes) {
  MemoryOrigin origin;
  const StoreNote note = global_.stores(address, bytes);
  origin.stores = note.stores;
  std::tie(origin.file, origin.line) = sites_[note.site];
  if (note.launch != 0) {
    origin.block = place_in(launches_[note.launch].grid, note.block);
    origin.thread = place_in(launches_[note.launch].block, note.thread);
  }
  OriginSet all = OriginSets::kNone;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    const ValueOrigins byte = global_.load(values_, address + i, 1);
    if (byte == OriginSets::kOutside) continue;
    all = sets_.unite(all, values_.used(byte));
  }
  const OriginSets::Listing listing = sets_.list(all, kMostLoads, kMostSteps);
  origin.complete = listing.complete && !lost_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, OriginRead> reads;
  for (const LoadedBytes& loaded : listing.loads) {
    const LoadEvent& event = sets_.event(loaded.event);
    const std::uint64_t from = event.address + loaded.first;
    const auto [read, is_new] = reads.try_emplace({from, loaded.count, event.site});
    if (!is_new) {
      ++read->second.times;
      continue;
    }
    read->second = {.address = from,
                    .bytes = loaded.count,
                    .times = 1,
                    .file = sites_[event.site].first,
                    .line = sites_[event.site].second,
                    .block = place_in(launches_[event.launch].grid, event.block),
                    .thread = place_in(launches_[event.launch].block, event.thread)};
  }
  for (auto& [key, read] : reads) {
    if (origin.reads.size() >= kMostReads) {
      origin.complete = false;
      break;
    }
    origin.reads.push_back(std::move(read));
  }
  return origin;
}

std::size_t Provenance::bytes() const { return sets_.bytes() + values_.bytes() + global_.bytes(); }

}  // namespace simgpu
