#include <array>
#include <cstring>

#include "simgpu/exec/flag_access.h"
#include "simgpu/exec/mbarrier.h"
#include "simgpu/exec/opcodes/mbarrier_order.h"
#include "simgpu/exec/opcodes/opcode.h"

/// cp.async: copies from global to shared memory that a thread waits for later
/// (exec/async_copies.h).
namespace simgpu {
namespace {

/// What says how many bytes are read; the rest of the destination becomes zero.
enum class SourceSize : std::uint8_t {
  all,      ///< all of them
  given,    ///< c
  none_if,  ///< none where the predicate c is set
};

template <SourceSize kSize>
std::array<std::uint32_t, kWarpSize> bytes_to_read(const Lowered* in, Warp& warp,
                                                   std::uint32_t bytes) {
  std::array<std::uint32_t, kWarpSize> sizes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if constexpr (kSize == SourceSize::all) {
      sizes[lane] = bytes;
    } else if constexpr (kSize == SourceSize::given) {
      sizes[lane] = std::min(words(warp, in->c)[lane], bytes);
    } else {
      sizes[lane] = (predicate(warp, in->c) >> lane & 1U) != 0 ? 0 : bytes;
    }
  }
  return sizes;
}

/// The warp goes on at once: it waits where it asks whether copies are done.
const Lowered* after_copy(const Lowered* in, Warp& warp) {
  warp.block->traffic.take_wait();
  return after_global(in, warp);
}

/// Reads kBytes from `addresses` + `skip` into each lane's values at `skip`.
template <unsigned kBytes>
void read_piece(const Lowered* in, Warp& warp, const LaneAddresses& addresses, unsigned skip,
                bool bypasses_l1, AsyncCopies::Copy& copy) {
  const auto from = prepare_global<kBytes, AccessKind::load, true>(in, warp, addresses.data(), skip,
                                                                   nullptr, bypasses_l1);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    std::memcpy(&copy.values[std::size_t{lane} * copy.bytes + skip], from.lane(lane), kBytes);
  }
}

/// The lanes of `mask` that read less than all: in pieces of 8, 4, 2 and 1 bytes.
template <unsigned kPiece = 8>
void read_pieces(const Lowered* in, Warp& warp, std::uint32_t mask, const LaneAddresses& addresses,
                 std::array<std::uint32_t, kWarpSize>& left,
                 std::array<std::uint32_t, kWarpSize>& at, bool bypasses_l1,
                 AsyncCopies::Copy& copy) {
  // Lanes that read the same sizes go together: those that are as far as the first one.
  std::uint32_t waiting = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    waiting |= static_cast<std::uint32_t>(left[lane] >= kPiece) << lane;
  }
  for (waiting &= mask; waiting != 0;) {
    const std::uint32_t skip = at[static_cast<unsigned>(__builtin_ctz(waiting))];
    std::uint32_t together = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      together |= static_cast<std::uint32_t>(at[lane] == skip) << lane;
    }
    warp.mask = waiting & together;
    waiting &= ~together;
    for (std::uint32_t lanes = warp.mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
      at[lane] += kPiece;
      left[lane] -= kPiece;
    }
    read_piece<kPiece>(in, warp, addresses, skip, bypasses_l1, copy);
  }
  if constexpr (kPiece > 1) {
    read_pieces<kPiece / 2>(in, warp, mask, addresses, left, at, bypasses_l1, copy);
  }
}

/// Where a copy's bytes go when it is done.
void deliver(Warp& warp, const AsyncCopies::Copy& copy, std::uint32_t lanes) {
  const auto move = [&](auto bytes) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      std::memcpy(warp.block->memory.shared() + copy.destination[lane],
                  &copy.values[std::size_t{lane} * bytes], bytes);
    }
  };
  if (copy.bytes == 16) {
    move(std::integral_constant<std::size_t, 16>{});
  } else {
    move(std::size_t{copy.bytes});
  }
}

/// a: destination, to which option is added; b: source, to which immediate is; c: see SourceSize.
template <unsigned kBytes, SourceSize kSize, bool kBypassesL1>
const Lowered* copy_async(const Lowered* in, Warp& warp) {
  const std::uint32_t mask = warp.mask;
  AsyncCopies& copies = warp.block->async_copies[warp.index];
  const auto deliver_oldest = [&](const AsyncCopies::Copy& oldest, std::uint32_t lanes) {
    deliver(warp, oldest, lanes);
  };
  if (copies.is_full()) copies.finish_oldest(deliver_oldest);
  AsyncCopies::Copy& copy = copies.add(mask);
  copy.pc = in->index;
  copy.bytes = kBytes;

  LaneAddresses source;
  add_offset(source, addresses64(warp, in->b), in->immediate);
  std::array<std::uint32_t, kWarpSize> sizes = bytes_to_read<kSize>(in, warp, kBytes);
  std::uint32_t whole = 0;
  std::uint32_t part = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    whole |= static_cast<std::uint32_t>(sizes[lane] == kBytes) << lane;
    part |= static_cast<std::uint32_t>(sizes[lane] != 0 && sizes[lane] != kBytes) << lane;
  }
  if ((mask & ~whole) != 0) copy.values.fill(0);
  warp.mask = mask & whole;
  if (warp.mask != 0) read_piece<kBytes>(in, warp, source, 0, kBypassesL1, copy);
  if constexpr (kSize == SourceSize::given) {
    warp.mask = mask & part;
    if (warp.mask != 0) {
      for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
        if (source[static_cast<unsigned>(__builtin_ctz(left))] % kBytes != 0) {
          fail_global(in, warp, AccessKind::load, kBytes, source);
        }
      }
      std::array<std::uint32_t, kWarpSize> at{};
      read_pieces(in, warp, mask & part, source, sizes, at, kBypassesL1, copy);
    }
  }
  warp.mask = mask;

  const auto offset = static_cast<std::int32_t>(in->option);
  prepare_shared<kBytes, AccessKind::copy>(in, warp, addresses32(warp, in->a), offset,
                                           copy.values.data());
  add_offset(copy.destination, addresses32(warp, in->a), offset);
  return after_copy(in, warp);
}

const Lowered* commit(const Lowered* in, Warp& warp) {
  warp.block->async_copies[warp.index].commit(warp.mask);
  return in + 1;
}

/// Ends what the executing lanes have copied.
void finish_copies(Warp& warp, std::uint32_t allowed) {
  AsyncCopies& copies = warp.block->async_copies[warp.index];
  bool waits = false;
  copies.wait(warp.mask, allowed, [&](const AsyncCopies::Copy& copy, std::uint32_t lanes) {
    waits = true;
    deliver(warp, copy, lanes);
    if (BlockCheckers* checkers = warp.block->checkers.get()) {
      checkers->copy_done({AccessKind::copy, copy.bytes, warp.index, copy.pc, lanes,
                           &copy.destination, nullptr, false});
    }
  });
  if (!waits) return;
  ++warp.loads;
  warp.load_cycles += kCyclesBeyondL1;
}

/// option: how many groups may stay under way. kAll: of what is not committed nothing may.
template <bool kAll>
const Lowered* wait(const Lowered* in, Warp& warp) {
  if constexpr (kAll) warp.block->async_copies[warp.index].commit(warp.mask);
  finish_copies(warp, in->option);
  return in + 1;
}

/// The lanes' copies arrive at these mbarriers, of which neighbours mostly have the same.
void note_copies(Warp& warp, const std::uint32_t* places, std::int64_t offset) {
  AsyncCopies& copies = warp.block->async_copies[warp.index];
  std::uint32_t last = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t place = places[lane] + static_cast<std::uint32_t>(offset);
    if (left == warp.mask || place != last) copies.arrive_at(place, lane);
    last = place;
  }
}

/// cp.async.mbarrier.arrive: the copies of the thread end now, the latest moment at which nobody
/// can tell, for the phase cannot end before; so does the arrival, which without .noinc the barrier
/// did not expect before and does not count.
template <bool kCounts>
const Lowered* arrive_when_copied(const Lowered* in, Warp& warp) {
  warp.block->async_copies[warp.index].commit(warp.mask);
  finish_copies(warp, 0);
  const auto at = prepare_shared<8, AccessKind::atomic, true>(in, warp, addresses32(warp, in->a),
                                                              in->immediate, nullptr);
  const std::uint32_t* const places = addresses32(warp, in->a);
  note_arrivals(warp, places, in->immediate, warp.mask);
  note_copies(warp, places, in->immediate);
  std::uint32_t ended = 0;
  for (std::uint32_t left = kCounts ? warp.mask : 0; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    Mbarrier barrier = Mbarrier::decode(load_element<std::uint64_t>(at.lane(lane)));
    const bool odd = barrier.odd;
    if (barrier.pending != 0) --barrier.pending;
    barrier.end_phase_if_complete();
    if (barrier.odd != odd) ended |= 1U << lane;
    store_element<std::uint64_t>(at.lane(lane), barrier.encode());
  }
  note_ends(warp, places, in->immediate, ended);
  store_flags(warp, at, ended);
  return in + 1;
}

/// Copies of one lane, 16 bytes for each lane of a warp at a time.
void copy_bulk(const Lowered* in, Warp& warp, std::uint32_t to, std::uint64_t from,
               std::uint32_t bytes) {
  constexpr std::uint32_t kPiece = 16;
  for (std::uint32_t done = 0; done < bytes; done += kPiece * kWarpSize) {
    const std::uint32_t pieces = std::min((bytes - done) / kPiece, std::uint32_t{kWarpSize});
    std::array<std::uint32_t, kWarpSize> destination;
    LaneAddresses source;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      destination[i] = to + done + i * kPiece;
      source[i] = from + done + i * kPiece;
    }
    warp.mask = pieces == kWarpSize ? ~0U : (1U << pieces) - 1;
    alignas(64) std::array<std::uint8_t, std::size_t{kWarpSize} * kPiece> values{};
    const auto read =
        prepare_global<kPiece, AccessKind::load, true>(in, warp, source.data(), 0, nullptr, true);
    for (unsigned i = 0; i < pieces; ++i) std::memcpy(&values[i * kPiece], read.lane(i), kPiece);
    const auto write =
        prepare_shared<kPiece, AccessKind::store>(in, warp, destination.data(), 0, values.data());
    for (unsigned i = 0; i < pieces; ++i) std::memcpy(write.lane(i), &values[i * kPiece], kPiece);
  }
}

/// cp.async.bulk from global to shared memory. a: destination, b: source, c: bytes, d: mbarrier,
/// all plain. The bytes come at once; the thread that waits for the barrier cannot tell.
const Lowered* copy_bulk_async(const Lowered* in, Warp& warp) {
  const std::uint32_t mask = warp.mask;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t bytes = words(warp, in->c)[lane];
    if (bytes % 16 != 0) {
      warp.block->failures.fail(in, warp, lane,
                                {.code = "RL0204",
                                 .message = "A bulk copy of " + std::to_string(bytes) +
                                            " bytes: it takes a multiple of 16"});
    }
    copy_bulk(in, warp, words(warp, in->a)[lane], pairs(warp, in->b)[lane], bytes);
    warp.mask = 1U << lane;
    const auto at =
        prepare_shared<8, AccessKind::atomic, true>(in, warp, addresses32(warp, in->d), 0, nullptr);
    const std::uint32_t* const places = addresses32(warp, in->d);
    note_arrivals(warp, places, 0, warp.mask);
    Mbarrier barrier = Mbarrier::decode(load_element<std::uint64_t>(at.lane(lane)));
    const bool odd = barrier.odd;
    barrier.bytes -= static_cast<std::int32_t>(bytes);
    barrier.end_phase_if_complete();
    if (barrier.odd != odd) {
      note_ends(warp, places, 0, warp.mask);
      store_flags(warp, at, warp.mask);
    }
    store_element<std::uint64_t>(at.lane(lane), barrier.encode());
  }
  warp.mask = mask;
  return after_copy(in, warp);
}

// Building.

template <unsigned kBytes, bool kBypassesL1>
Handler handler_of(SourceSize size) {
  switch (size) {
    case SourceSize::given:
      return &copy_async<kBytes, SourceSize::given, kBypassesL1>;
    case SourceSize::none_if:
      return &copy_async<kBytes, SourceSize::none_if, kBypassesL1>;
    default:
      return &copy_async<kBytes, SourceSize::all, kBypassesL1>;
  }
}

/// The value of a literal operand; -1 for others.
std::int64_t literal(const ptx::Instruction& instruction, std::size_t operand) {
  const auto* value =
      std::get_if<ptx::IntegerLiteral>(&instruction.operands.at(operand).elements.at(0));
  return value == nullptr ? -1 : value->value;
}

void build_copy(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  // After addresses and size: how much to read or whether to, then a cache policy.
  const bool has_policy = instruction.has("L2::cache_hint");
  const std::size_t operands = builder.operand_count() - (has_policy ? 1 : 0);
  if (operands < 3 || operands > 4) builder.refuse(instruction.spelling());
  const std::int64_t bytes = literal(instruction, 2);
  const bool bypasses_l1 = instruction.has("cg");
  const Address destination = builder.address(0, ptx::Space::shared);
  const Address source = builder.address(1, ptx::Space::global);
  SourceSize size = SourceSize::all;
  Ref given;
  if (operands == 4) {
    const bool is_predicate = builder.register_bits(instruction.operands[3].elements[0]) == 1;
    size = is_predicate ? SourceSize::none_if : SourceSize::given;
    given = builder.source(std::size_t{3}, is_predicate ? 'p' : 'i');
  }
  if (has_policy) builder.source(operands, 'l');
  const Handler handler = bytes == 16 && bypasses_l1 ? handler_of<16, true>(size)
                          : bypasses_l1              ? nullptr
                          : bytes == 16              ? handler_of<16, false>(size)
                          : bytes == 8               ? handler_of<8, false>(size)
                          : bytes == 4               ? handler_of<4, false>(size)
                                                     : nullptr;
  if (handler == nullptr) {
    builder.refuse(instruction.spelling() + " of " + std::to_string(bytes) + " bytes");
  }
  Pending& pending = builder.emit(handler, {.cls = InstructionClass::async_copy});
  pending.a = destination.base;
  pending.option = static_cast<std::uint32_t>(destination.offset);
  pending.b = source.base;
  pending.immediate = source.offset;
  pending.c = given;
  pending.is_memory = true;
  pending.access_bytes = static_cast<unsigned>(bytes);
  pending.async_step = AsyncStep::copy;
}

void build_commit(KernelBuilder& builder) {
  Pending& pending = builder.emit(&commit, {.cls = InstructionClass::other});
  pending.async_step = AsyncStep::commit;
}

void build_wait(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool all = instruction.has("wait_all");
  const std::int64_t groups = all ? 0 : builder.operand_count() == 1 ? literal(instruction, 0) : -1;
  if (groups < 0 || groups > INT32_MAX || builder.operand_count() != (all ? 0 : 1)) {
    builder.refuse(instruction.spelling());
  }
  Pending& pending =
      builder.emit(all ? &wait<true> : &wait<false>, {.cls = InstructionClass::other});
  pending.option = static_cast<std::uint32_t>(groups);
  pending.async_step = all ? AsyncStep::wait_all : AsyncStep::wait;
}

void build_arrive(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const Address barrier = builder.address(0, ptx::Space::shared);
  // The other kind ends no phase: there is an arrival beside it.
  const bool counts = instruction.has("noinc");
  Pending& pending =
      builder.emit(counts ? &arrive_when_copied<true> : &arrive_when_copied<false>,
                   {.cls = counts ? InstructionClass::barrier : InstructionClass::shared_atomic});
  pending.a = barrier.base;
  pending.immediate = barrier.offset;
  pending.async_step = AsyncStep::commit;
  pending.option = kStrong | kOnMbarrier;
  pending.is_memory = true;
  pending.access_bytes = 8;
}

void build_bulk(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool has_policy = instruction.has("L2::cache_hint");
  if (builder.operand_count() != (has_policy ? 5U : 4U)) builder.refuse(instruction.spelling());
  const Ref destination = builder.plain_address(0, ptx::Space::shared);
  const Ref source = builder.plain_address(1, ptx::Space::global);
  const Ref bytes = builder.source(std::size_t{2}, 'i');
  const Ref barrier = builder.plain_address(3, ptx::Space::shared);
  if (has_policy) builder.source(std::size_t{4}, 'l');
  Pending& pending = builder.emit(&copy_bulk_async, {.cls = InstructionClass::async_copy});
  pending.a = destination;
  pending.b = source;
  pending.c = bytes;
  pending.d = barrier;
  pending.option = kStrong | kOnMbarrier;
  pending.is_memory = true;
  pending.access_bytes = 16;
}

void build_async(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (instruction.has("mbarrier")) {
    build_arrive(builder);
  } else if (instruction.has("bulk")) {
    build_bulk(builder);
  } else if (instruction.has("commit_group")) {
    build_commit(builder);
  } else if (instruction.has("wait_group") || instruction.has("wait_all")) {
    build_wait(builder);
  } else {
    build_copy(builder);
  }
}

}  // namespace

OpcodeFile async_copy_opcodes() {
  return {
      .built = {
          {"cp",
           build_async,
           {"async ca|cg shared|shared::cta global [L2::cache_hint] [L2::64B|L2::128B|L2::256B]",
            "async mbarrier arrive [noinc] [shared|shared::cta] b64",
            ("async bulk shared::cluster|shared::cta global mbarrier::complete_tx::bytes"
             " [L2::cache_hint]"),
            "async commit_group", "async wait_group", "async wait_all"}}}};
}

}  // namespace simgpu
