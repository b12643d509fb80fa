#include "simgpu/exec/mbarrier.h"

#include <bit>
#include <string>

#include "simgpu/exec/flag_access.h"
#include "simgpu/exec/opcodes/mbarrier_order.h"
#include "simgpu/exec/opcodes/opcode.h"

/// mbarrier.*: barriers in shared memory (cuda::barrier, cuda::pipeline).
namespace simgpu {
namespace {

constexpr Cost kShared{.cls = InstructionClass::shared_atomic};
/// Each warp arrives once in a phase, but asks as often as the phase lets it wait: so it is by its
/// arrivals that the time model counts what keeps a block's warps together.
constexpr Cost kArrival{.cls = InstructionClass::barrier};

enum class Step : std::uint32_t { init, inval, arrive, drop, arrive_expect, expect, complete };

// The option of an instruction: WarpAccess::order in its lowest byte, then these.
constexpr std::uint32_t kGeneric = 1U << 8;  ///< addresses are generic
constexpr std::uint32_t kParity = 1U << 9;   ///< of a wait: b is a parity, not a state

/// Offsets in shared memory of the lanes' barriers; a generic address of anything else is out of
/// bounds.
std::array<std::uint32_t, kWarpSize> offsets_of(const Lowered* in, Warp& warp) {
  std::array<std::uint32_t, kWarpSize> offsets;
  if ((in->option & kGeneric) == 0) {
    std::copy_n(addresses32(warp, in->a), kWarpSize, offsets.begin());
    return offsets;
  }
  LaneAddresses addresses;
  add_offset(addresses, addresses64(warp, in->a), 0);
  return shared_offsets(addresses);
}

[[noreturn]] void fail_count(const Lowered* in, Warp& warp, unsigned lane, std::string message) {
  warp.block->failures.fail(
      in, warp, lane,
      {.code = "RL0305", .message = std::move(message), .action = "uses an mbarrier"});
}

void arrive(const Lowered* in, Warp& warp, unsigned lane, Mbarrier& barrier, std::uint32_t count) {
  if (count > barrier.pending) {
    fail_count(in, warp, lane,
               std::to_string(count) + " arrivals at an mbarrier of which " +
                   std::to_string(barrier.pending) + " of the " + std::to_string(barrier.expected) +
                   " that a phase expects are still to come");
  }
  barrier.pending -= count;
}

/// a: the barrier; b: a count of arrivals, or of bytes; c: the other one; dst: the state before, if
/// option says so.
template <Step kStep>
const Lowered* change(const Lowered* in, Warp& warp) {
  constexpr bool kStores = kStep == Step::init || kStep == Step::inval;
  constexpr AccessKind kKind = kStores ? AccessKind::store : AccessKind::atomic;
  const auto offsets = offsets_of(in, warp);
  const auto at = prepare_shared<8, kKind, true>(in, warp, offsets.data(), in->immediate, nullptr);
  // All that is done here counts as released: relaxed arrivals, too, since fences are not asked
  // for.
  if constexpr (!kStores) note_arrivals(warp, offsets.data(), in->immediate, warp.mask);
  std::uint32_t ended = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    std::byte* const place = at.lane(lane);
    const auto before = load_element<std::uint64_t>(place);
    const std::uint32_t b = words(warp, in->b)[lane];
    Mbarrier barrier = Mbarrier::decode(before);
    if constexpr (kStep == Step::init) {
      if (b == 0 || b > Mbarrier::kMostThreads) {
        fail_count(in, warp, lane,
                   "An mbarrier for " + std::to_string(b) + " arrivals: it takes 1 to 1048575");
      }
      barrier = {.expected = b, .pending = b};
    } else if constexpr (kStep == Step::inval) {
      barrier = {};
    } else if constexpr (kStep == Step::expect || kStep == Step::complete) {
      barrier.bytes += static_cast<std::int32_t>(kStep == Step::expect ? b : 0U - b);
    } else {
      if constexpr (kStep == Step::arrive_expect) {
        barrier.bytes += static_cast<std::int32_t>(words(warp, in->c)[lane]);
      }
      arrive(in, warp, lane, barrier, b);
      if constexpr (kStep == Step::drop) barrier.expected -= b;
    }
    if constexpr (!kStores) {
      barrier.end_phase_if_complete();
      if (barrier.odd != Mbarrier::decode(before).odd) ended |= 1U << lane;
    }
    store_element<std::uint64_t>(place, barrier.encode());
    if constexpr (kStep == Step::arrive || kStep == Step::drop || kStep == Step::arrive_expect) {
      pairs(warp, in->dst)[lane] = before;
    }
  }
  note_ends(warp, offsets.data(), in->immediate, ended);
  store_flags(warp, at, ended);
  return in + 1;
}

/// The warp's copies that a phase waited for are there.
void note_wait(const Lowered* in, Warp& warp, std::uint32_t place) {
  const auto groups_left = warp.block->async_copies[warp.index].groups_since_arrival(place);
  if (groups_left) warp.block->traffic.wait_at_mbarrier(in->index, warp.index, *groups_left);
}

/// a: the barrier; b: the state or the parity of the phase that is waited for.
const Lowered* wait(const Lowered* in, Warp& warp) {
  const auto offsets = offsets_of(in, warp);
  const auto at =
      prepare_shared<8, AccessKind::load, true>(in, warp, offsets.data(), in->immediate, nullptr);
  std::uint32_t complete = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const bool odd = Mbarrier::decode(load_element<std::uint64_t>(at.lane(lane))).odd;
    const bool waited = (in->option & kParity) != 0
                            ? (words(warp, in->b)[lane] & 1U) != 0
                            : Mbarrier::decode(pairs(warp, in->b)[lane]).odd;
    complete |= static_cast<std::uint32_t>(odd != waited) << lane;
  }
  write_predicate(warp, in->dst, complete);
  look_at_flags(warp, at);
  if (complete != 0) {
    note_wait(in, warp,
              offsets[std::countr_zero(complete)] + static_cast<std::uint32_t>(in->immediate));
  }
  each_mbarrier(warp, offsets.data(), in->immediate, complete,
                [&](BlockCheckers& checkers, std::uint32_t place) {
                  checkers.wait_for_phase(warp.index, place);
                });
  if (complete == warp.mask) return in + 1;
  if (complete == 0 && at.site.shape == Shape::uniform) {
    warp.sleep_on(at.lane(static_cast<unsigned>(__builtin_ctz(warp.mask))));
  }
  return warp.give_way(in + 1, Warp::Waiting::yes);
}

std::uint32_t pending_of(std::uint64_t state) { return Mbarrier::decode(state).pending; }

// Building.

Pending& emit_on_barrier(KernelBuilder& builder, Handler handler, std::size_t operand,
                         std::uint32_t option, const Ref& b, const Ref& c, const Ref& dst,
                         const Cost& cost = kShared) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool is_shared = instruction.has("shared") || instruction.has("shared::cta");
  const Address address =
      builder.address(operand, is_shared ? ptx::Space::shared : ptx::Space::generic);
  Pending& pending = builder.emit(handler, cost);
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.b = b;
  pending.c = c;
  pending.dst = dst;
  pending.option = option | (is_shared ? 0 : kGeneric);
  pending.is_memory = true;
  pending.access_bytes = 8;
  return pending;
}

Handler handler_of(const ptx::Instruction& instruction) {
  const bool expects = instruction.has("expect_tx");
  if (instruction.has("arrive_drop")) return expects ? nullptr : &change<Step::drop>;
  if (instruction.has("arrive")) {
    return expects ? &change<Step::arrive_expect> : &change<Step::arrive>;
  }
  if (expects) return &change<Step::expect>;
  if (instruction.has("complete_tx")) return &change<Step::complete>;
  return instruction.has("init") ? &change<Step::init> : &change<Step::inval>;
}

void build_change(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool arrives = instruction.has("arrive") || instruction.has("arrive_drop");
  const bool expects = instruction.has("expect_tx");
  const bool has_state = arrives && instruction.operands.at(0).kind != ptx::Operand::Kind::address;
  const std::size_t at = has_state ? 1 : 0;
  const bool needs_count = !arrives && !instruction.has("inval");
  const std::size_t given = builder.operand_count() - std::min(builder.operand_count(), at + 1);
  const Handler handler = handler_of(instruction);
  if (handler == nullptr || given > 1 || ((needs_count || (arrives && expects)) && given == 0)) {
    builder.refuse(instruction.spelling() + " with " + std::to_string(builder.operand_count()) +
                   " operands");
  }
  Ref count = given == 1 ? builder.source(at + 1, 'i') : builder.constant(1, 4);
  Ref bytes = count;
  if (arrives && expects) count = builder.constant(1, 4);
  const Ref state = has_state ? builder.destination(std::size_t{0}, 'l')
                    : arrives ? builder.new_register(SlotKind::pair)
                              : Ref{};
  const bool stores = instruction.has("init") || instruction.has("inval");
  const std::uint32_t option = stores ? 0U : std::uint32_t{kStrong | kOnMbarrier};
  emit_on_barrier(builder, handler, at, option, count, bytes, state, arrives ? kArrival : kShared);
}

void build_wait(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  // try_wait may have a limit of time behind its operands: it is a hint.
  const bool may_limit = instruction.has("try_wait");
  const std::size_t operands = builder.operand_count();
  if (operands != 3 && !(may_limit && operands == 4)) {
    builder.refuse(instruction.spelling() + " with " + std::to_string(operands) + " operands");
  }
  const bool parity = instruction.has("parity");
  const Ref phase = builder.source(std::size_t{2}, parity ? 'i' : 'l');
  const Ref done = builder.destination(std::size_t{0}, 'p');
  emit_on_barrier(builder, &wait, 1, kStrong | kOnMbarrier | (parity ? kParity : 0), phase, phase,
                  done)
      .async_step = AsyncStep::wait_phase;
}

void build_mbarrier(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (instruction.has("test_wait") || instruction.has("try_wait")) return build_wait(builder);
  if (!instruction.has("pending_count")) return build_change(builder);
  const Ref state = builder.source(std::size_t{1}, 'l');
  const Ref count = builder.destination(std::size_t{0}, 'i');
  Pending& pending = builder.emit(lanes<&pending_of>().handler, {.cls = InstructionClass::integer});
  pending.a = state;
  pending.dst = count;
}

}  // namespace

OpcodeFile mbarrier_opcodes() {
  const std::string space = " [shared|shared::cta]";
  return {.built = {{"mbarrier",
                     build_mbarrier,
                     {"init" + space + " b64", "inval" + space + " b64",
                      "arrive|arrive_drop [release|relaxed] [cta]" + space + " b64",
                      "arrive|arrive_drop [release] [cta] noComplete" + space + " b64",
                      "arrive expect_tx [release|relaxed] [cta]" + space + " b64",
                      "expect_tx|complete_tx [relaxed] [cta]" + space + " b64",
                      "test_wait|try_wait [parity] [acquire|relaxed] [cta]" + space + " b64",
                      "pending_count b64"}}}};
}

}  // namespace simgpu
