#include <algorithm>
#include <cstring>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/provenance/provenance.h"

/// Provenance of asynchronous copies to shared memory, and of what calls pass.
namespace simgpu {

void Provenance::look_at_copies(const Lowered& in, const Warp& warp, std::uint32_t lanes,
                                const InstructionOrigins& rule) {
  const bool is_bulk = rule.rule == OriginRule::copied_in_bulk;
  const std::uint32_t size = launch_->kernel.info.instructions[in.index].operands[2];
  const bool by_predicate =
      !is_bulk && size != InstructionInfo::kNoRegister &&
      launch_->kernel.registers[size].slot.bytes == slot_bytes(SlotKind::predicate);
  // A literal has a slot, too, but never the first.
  const bool is_given = size != InstructionInfo::kNoRegister || in.c != 0;
  each_lane(lanes, [&](unsigned lane) {
    step_.addresses[lane] = slot<std::uint32_t>(warp, in.a)[lane] + (is_bulk ? 0 : in.option);
    step_.values[lane] = slot<std::uint64_t>(warp, in.b)[lane] +
                         (is_bulk ? 0 : static_cast<std::uint64_t>(in.immediate));
    std::uint32_t bytes = rule.bytes;
    if (by_predicate) {
      bytes = (predicate(warp, in.c) >> lane & 1U) != 0 ? 0 : bytes;
    } else if (is_bulk) {
      bytes = slot<std::uint32_t>(warp, in.c)[lane];
    } else if (is_given) {
      bytes = std::min(bytes, slot<std::uint32_t>(warp, in.c)[lane]);
    }
    step_.sources[lane] = bytes;
  });
}

/// What is read now comes to shared memory when the thread has waited for it.
void Provenance::copy_later(const InstructionOrigins& rule, const Site& site, const Warp& warp,
                            std::uint32_t lanes) {
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  if (own.copies.is_full()) {
    own.copies.finish_oldest(
        [&](const AsyncCopies::Copy& copy, std::uint32_t done) { deliver(copy, done, block); });
  }
  AsyncCopies::Copy& copy = own.copies.add(lanes);
  copy.bytes = static_cast<std::uint8_t>(rule.bytes);
  copy.values.fill(0);
  each_lane(lanes, [&](unsigned lane) {
    copy.destination[lane] = step_.addresses[lane];
    const std::uint64_t from = step_.values[lane];
    Event event = event_of(site, lane, from);
    for (unsigned at = 0; at < step_.sources[lane]; at += kOriginWord) {
      const unsigned left = std::min(step_.sources[lane] - at, kOriginWord);
      ValueOrigins word = OriginSets::kNone;
      if (left == kOriginWord) {
        word = load_global(event, from + at, kOriginWord);
      } else {
        ByteOrigins::Bytes bytes{};
        for (unsigned i = 0; i < left; ++i) {
          bytes[i] = values_.byte(load_global(event, from + at + i, 1), 0);
        }
        word = values_.value(bytes, kOriginWord);
      }
      std::memcpy(&copy.values[std::size_t{lane} * copy.bytes + at], &word, sizeof(word));
    }
  });
}

void Provenance::deliver(const AsyncCopies::Copy& copy, std::uint32_t lanes, BlockOrigins& block) {
  each_lane(lanes, [&](unsigned lane) {
    for (unsigned at = 0; at < copy.bytes; at += kOriginWord) {
      ValueOrigins word = OriginSets::kNone;
      std::memcpy(&word, &copy.values[std::size_t{lane} * copy.bytes + at], sizeof(word));
      block.shared.store(values_, copy.destination[lane] + at, kOriginWord, word);
    }
  });
}

void Provenance::await_copies(WarpOrigins& own, BlockOrigins& block, std::uint32_t lanes,
                              std::uint32_t allowed) {
  own.copies.wait(lanes, allowed, [&](const AsyncCopies::Copy& copy, std::uint32_t done) {
    deliver(copy, done, block);
  });
}

void Provenance::copy_in_bulk(const Site& site, const Warp& warp, std::uint32_t lanes) {
  constexpr std::uint32_t kPiece = 16;  // of which one event is made
  BlockOrigins& block = block_of(warp);
  each_lane(lanes, [&](unsigned lane) {
    for (std::uint32_t piece = 0; piece < step_.sources[lane]; piece += kPiece) {
      Event event = event_of(site, lane, step_.values[lane] + piece);
      for (std::uint32_t at = piece; at < piece + kPiece; at += kOriginWord) {
        block.shared.store(values_, step_.addresses[lane] + at, kOriginWord,
                           load_global(event, step_.values[lane] + at, kOriginWord));
      }
    }
  });
}

void Provenance::copy_frame(WarpOrigins& own, unsigned lane, std::uint64_t to, std::uint64_t from,
                            std::uint32_t bytes) {
  OwnOrigins& frame = own.frame(lane);
  for (std::uint32_t at = 0; at < bytes;) {
    const bool is_word =
        (to + at) % kOriginWord == 0 && (from + at) % kOriginWord == 0 && bytes - at >= kOriginWord;
    const unsigned count = is_word ? kOriginWord : 1;
    frame.store(values_, to + at, count, frame.load(values_, from + at, count));
    at += count;
  }
}

void Provenance::call(WarpOrigins& own, std::uint32_t lanes) {
  const CallSite& site = *step_.call;
  const std::uint64_t parameters = std::uint64_t{launch_->kernel.frame_bytes_per_thread} +
                                   step_.stack_pointer + site.caller_frame_bytes;
  each_lane(lanes, [&](unsigned lane) {
    for (const PassedValue& argument : site.arguments) {
      copy_frame(own, lane, parameters + argument.callee,
                 argument.caller + (argument.in_frame ? step_.stack_pointer : 0), argument.bytes);
    }
    if (!own.push(lane)) lost_ = true;
  });
}

void Provenance::leave(WarpOrigins& own, std::uint32_t lanes) {
  const CallSite& site = *step_.call;
  const std::uint64_t parameters = std::uint64_t{launch_->kernel.frame_bytes_per_thread} +
                                   step_.stack_pointer + site.caller_frame_bytes;
  each_lane(lanes, [&](unsigned lane) {
    for (const PassedValue& result : site.results) {
      copy_frame(own, lane, result.caller + (result.in_frame ? step_.stack_pointer : 0),
                 parameters + result.callee, result.bytes);
    }
    own.pop(lane);
  });
}

}  // namespace simgpu
