#include <array>
#include <cstring>

#include "simgpu/exec/memory_access.h"
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
      std::memcpy(warp.block->shared() + copy.destination[lane],
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
  AsyncCopies& copies = warp.block->async_copies(warp);
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
  return after_global(in, warp);
}

const Lowered* commit(const Lowered* in, Warp& warp) {
  warp.block->async_copies(warp).commit(warp.mask);
  return in + 1;
}

/// option: how many groups may stay under way. kAll: of what is not committed nothing may.
template <bool kAll>
const Lowered* wait(const Lowered* in, Warp& warp) {
  AsyncCopies& copies = warp.block->async_copies(warp);
  if constexpr (kAll) copies.commit(warp.mask);
  copies.wait(warp.mask, in->option, [&](const AsyncCopies::Copy& copy, std::uint32_t lanes) {
    deliver(warp, copy, lanes);
    if (BlockCheckers* checkers = warp.block->checkers()) {
      checkers->copy_done({AccessKind::copy, copy.bytes, warp.index, copy.pc, lanes,
                           &copy.destination, nullptr, false});
    }
  });
  return in + 1;
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

void build_async(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (instruction.has("commit_group")) {
    build_commit(builder);
  } else if (instruction.has("wait_group") || instruction.has("wait_all")) {
    build_wait(builder);
  } else {
    build_copy(builder);
  }
}

}  // namespace

std::vector<BuiltOpcode> built_async_copy() {
  return {{"cp",
           build_async,
           {"async ca|cg shared|shared::cta global [L2::cache_hint] [L2::64B|L2::128B|L2::256B]",
            "async commit_group", "async wait_group", "async wait_all"}}};
}

}  // namespace simgpu
