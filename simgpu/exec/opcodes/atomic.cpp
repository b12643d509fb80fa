#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/exec/flag_access.h"
#include "simgpu/exec/opcodes/opcode.h"

/// atom and red. Lanes take their turn in order of lane, blocks in order of block, so that sums of
/// floats are the same in every run.
namespace simgpu {
namespace {

/// New value from the old one and the operands; T is the unsigned type of the access's size.
template <class T>
using Update = T (*)(T old, T b, T c);

// Beyond what an atomic returns and orders, its option says what becomes of it in machine code.
constexpr std::uint32_t kLoopInShared = 1U << 16;   ///< a loop that compares and swaps
constexpr std::uint32_t kAddressInText = 1U << 17;  ///< the same for all threads of a block

/// The most lanes of a warp that meet in one bank of shared memory, and on one word.
struct SharedMeeting {
  std::uint32_t in_bank = 0, on_word = 0;
};

SharedMeeting meeting_of(const Warp& warp, const SitePattern<std::uint32_t>& site) {
  constexpr std::uint32_t kBanks = 32, kWordBytes = 4;
  SharedMeeting most;
  std::array<std::uint8_t, kBanks> in_bank{};
  std::array<std::pair<std::uint32_t, std::uint32_t>, kWarpSize> on_word;
  std::size_t words = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t word = site.relative[lane] / kWordBytes;
    most.in_bank = std::max<std::uint32_t>(most.in_bank, ++in_bank[word % kBanks]);
    const auto end = on_word.begin() + words;
    auto found =
        std::find_if(on_word.begin(), end, [word](const auto& one) { return one.first == word; });
    if (found == end) on_word[words++] = {word, 0};
    most.on_word = std::max(most.on_word, ++found->second);
  }
  return most;
}

/// Cycles that an atomic takes of the banks. Lanes in one bank come one after the other; where the
/// text gives all of them one address, ptxas adds integers up across the warp first. Of
/// floating-point numbers it makes a loop: in each round the lanes that are left load and try to
/// swap, and one lane of each word succeeds. A try takes 3/4 of a cycle: 2^25 additions to one word
/// of each block took 3.02 ms on an RTX A6000, which is 436 cycles for a warp, and 428 here
/// (docs/design/time-model.md).
std::uint32_t shared_wavefronts_of(const Lowered* in, const Warp& warp,
                                   const SitePattern<std::uint32_t>& site) {
  const bool is_loop = (in->option & kLoopInShared) != 0;
  if ((in->option & kAddressInText) != 0 && !is_loop) return 1;
  const SharedMeeting most = meeting_of(warp, site);
  return is_loop ? most.in_bank + 3 * most.in_bank * (most.on_word + 1) / 8 : most.in_bank;
}

template <class T, Update<T> F, class Word>
void update_lanes(const Lowered* in, Warp& warp, const Prepared<Word>& at) {
  if constexpr (sizeof(Word) == sizeof(std::uint32_t)) {
    const std::uint32_t wavefronts = shared_wavefronts_of(in, warp, at.site);
    warp.block->counted.shared_atomic_wavefronts += wavefronts;
    AccessCounts& own = warp.block->sites.counts(in);
    own.wavefronts += wavefronts;
    own.conflicts += wavefronts - 1;
  }
  T changed = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    std::byte* const place = at.lane(lane);
    const T old = load_element<T>(place);
    const auto b = static_cast<T>(slot<T>(warp, in->b)[lane]);
    const auto c = static_cast<T>(slot<T>(warp, in->c)[lane]);
    const T now = F(old, b, c);
    store_element<T>(place, now);
    changed |= old ^ now;
    if ((in->option & 1U) != 0) slot<T>(warp, in->dst)[lane] = old;
  }
  if (changed != 0) {
    warp.block->changes.note_atomic();
    wait_for_flags(warp, at);
    store_flags(warp, at, warp.mask);
  } else {
    look_at_flags(warp, at);
    const std::byte* const regs = warp.regs;
    warp.tries.note(in, {regs + in->a, kWarpSize * sizeof(std::uint32_t)},
                    {regs + in->b, kWarpSize * sizeof(WordOf<T>)}, true,
                    warp.block->changes.effects());
  }
}

/// Behind an atomic on global memory: what was there comes from L2.
const Lowered* after_global_atomic(const Lowered* in, Warp& warp) {
  if ((in->option & 1U) != 0) warp.end_load(in, kCyclesBeyondL1);
  return after_global(in, warp);
}

/// F updates shared memory, G global memory.
template <class T, Update<T> F, Update<T> G>
struct Atomic {
  static const Lowered* shared(const Lowered* in, Warp& warp) {
    update_lanes<T, F>(in, warp,
                       prepare_shared<sizeof(T), AccessKind::atomic>(
                           in, warp, addresses32(warp, in->a), in->immediate, nullptr));
    return in + 1;
  }
  static const Lowered* global(const Lowered* in, Warp& warp) {
    update_lanes<T, G>(in, warp,
                       prepare_global<sizeof(T), AccessKind::atomic, true>(
                           in, warp, addresses64(warp, in->a), in->immediate, nullptr));
    return after_global_atomic(in, warp);
  }
  static const Lowered* generic(const Lowered* in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    LaneAddresses addresses;
    add_offset(addresses, addresses64(warp, in->a), in->immediate);
    const GenericLanes lanes = sort_generic(addresses, mask);
    if (lanes.local != 0) {
      warp.block->failures.fail(
          in, warp, static_cast<unsigned>(__builtin_ctz(lanes.local)),
          {.code = "RL0203",
           .message = "An atomic operation on a thread's own array: atomics work on shared and "
                      "global memory only"});
    }
    if (lanes.shared != 0) {
      const auto offsets = shared_offsets(addresses);
      warp.mask = lanes.shared;
      update_lanes<T, F>(
          in, warp,
          prepare_shared<sizeof(T), AccessKind::atomic>(in, warp, offsets.data(), 0, nullptr));
    }
    warp.mask = mask & ~lanes.shared;
    if (warp.mask != 0) {
      update_lanes<T, G>(in, warp,
                         prepare_global<sizeof(T), AccessKind::atomic, true>(
                             in, warp, addresses.data(), 0, nullptr));
    }
    const bool is_global = warp.mask != 0;
    warp.mask = mask;
    return is_global ? after_global_atomic(in, warp) : after_global(in, warp);
  }
};

struct Handlers {
  Handler shared = nullptr, global = nullptr, generic = nullptr;
  unsigned bytes = 0;
  bool has_c = false;  ///< cas: a second operand
};

template <class T, Update<T> F, Update<T> G = F>
Handlers handlers(bool has_c = false) {
  using Code = Atomic<T, F, G>;
  return {&Code::shared, &Code::global, &Code::generic, sizeof(T), has_c};
}

template <class T>
T exchange(T, T b, T) {
  return b;
}
template <class T>
T compare_and_swap(T old, T b, T c) {
  return old == b ? c : old;
}
template <class T>
T add(T old, T b, T) {
  return static_cast<T>(old + b);
}
template <class T>
T and_bits(T old, T b, T) {
  return old & b;
}
template <class T>
T or_bits(T old, T b, T) {
  return old | b;
}
template <class T>
T xor_bits(T old, T b, T) {
  return old ^ b;
}
template <class T>
T increment(T old, T b, T) {
  return old >= b ? 0 : old + 1;
}
template <class T>
T decrement(T old, T b, T) {
  return old == 0 || old > b ? b : old - 1;
}
/// Comparison as Int, storage as T.
template <class T, class Int>
T minimum(T old, T b, T) {
  return static_cast<Int>(b) < static_cast<Int>(old) ? b : old;
}
template <class T, class Int>
T maximum(T old, T b, T) {
  return static_cast<Int>(b) > static_cast<Int>(old) ? b : old;
}

std::uint32_t add_f32(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return arith::bits_of(arith::add_f32<>(arith::float_of(old), arith::float_of(b)));
}
/// In global memory, subnormal operands and results become zero (PTX ISA, "atom").
std::uint32_t add_f32_flushing(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  using arith::Round;
  return arith::bits_of(
      arith::add_f32<Round::nearest_even, true>(arith::float_of(old), arith::float_of(b)));
}
/// Of two NaNs what was there stays.
std::uint64_t add_f64(std::uint64_t old, std::uint64_t b, std::uint64_t) {
  return arith::bits_of(arith::add_f64<>(arith::double_of(b), arith::double_of(old)));
}
/// Global memory adds where it lies, and leaves a signalling NaN as it is; in shared memory the
/// addition is the multiprocessor's.
std::uint64_t add_f64_keeping(std::uint64_t old, std::uint64_t b, std::uint64_t) {
  const double x = arith::double_of(old);
  const double y = arith::double_of(b);
  if (y != y) return b;
  return x != x ? old : arith::bits_of(arith::add_f64<>(x, y));
}
template <class H>
std::uint16_t add_half(std::uint16_t old, std::uint16_t b, std::uint16_t) {
  return arith::add_half<H>(old, b);
}
template <class H>
std::uint32_t add_halves(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return arith::packed(&arith::add_half<H>, old, b);
}

template <class U, class S>
void add_integers(std::map<std::string, Handlers>& table, const std::string& bits) {
  table["exch.b" + bits] = handlers<U, &exchange<U>>();
  table["cas.b" + bits] = handlers<U, &compare_and_swap<U>>(true);
  table["and.b" + bits] = handlers<U, &and_bits<U>>();
  table["or.b" + bits] = handlers<U, &or_bits<U>>();
  table["xor.b" + bits] = handlers<U, &xor_bits<U>>();
  table["add.u" + bits] = table["add.s" + bits] = handlers<U, &add<U>>();
  table["min.u" + bits] = handlers<U, &minimum<U, U>>();
  table["max.u" + bits] = handlers<U, &maximum<U, U>>();
  table["min.s" + bits] = handlers<U, &minimum<U, S>>();
  table["max.s" + bits] = handlers<U, &maximum<U, S>>();
}

const std::map<std::string, Handlers>& table_of_operations() {
  static const std::map<std::string, Handlers> kTable = [] {
    std::map<std::string, Handlers> table;
    add_integers<std::uint32_t, std::int32_t>(table, "32");
    add_integers<std::uint64_t, std::int64_t>(table, "64");
    table["cas.b16"] = handlers<std::uint16_t, &compare_and_swap<std::uint16_t>>(true);
    table["inc.u32"] = handlers<std::uint32_t, &increment<std::uint32_t>>();
    table["dec.u32"] = handlers<std::uint32_t, &decrement<std::uint32_t>>();
    table["add.f32"] = handlers<std::uint32_t, &add_f32, &add_f32_flushing>();
    table["add.f64"] = handlers<std::uint64_t, &add_f64, &add_f64_keeping>();
    table["add.noftz.f16"] = handlers<std::uint16_t, &add_half<arith::F16>>();
    table["add.noftz.bf16"] = handlers<std::uint16_t, &add_half<arith::Bf16>>();
    table["add.noftz.f16x2"] = handlers<std::uint32_t, &add_halves<arith::F16>>();
    table["add.noftz.bf16x2"] = handlers<std::uint32_t, &add_halves<arith::Bf16>>();
    return table;
  }();
  return kTable;
}

bool is_order_or_scope(const std::string& modifier) {
  static const std::vector<std::string> kNames{"relaxed", "acquire", "release", "acq_rel",
                                               "cta",     "cluster", "gpu",     "sys"};
  return std::find(kNames.begin(), kNames.end(), modifier) != kNames.end();
}

/// WarpAccess::order of an atomic operation. Without a modifier it is .relaxed, of scope .gpu.
std::uint32_t order_of(const ptx::Instruction& instruction) {
  std::uint32_t order = kStrong;
  if (instruction.has("acquire") || instruction.has("acq_rel")) order |= kAcquires;
  if (instruction.has("release") || instruction.has("acq_rel")) order |= kReleases;
  if (instruction.has("cta")) order |= kOrdersBlock;
  return order;
}

/// Whether lanes that meet on one address of global memory are served one after the other. Of
/// integers a warp's sum goes to L2 in one request.
bool is_one_by_one(const std::string& operation) {
  return operation.find("f16") != std::string::npos || operation.find("f32") != std::string::npos ||
         operation.find("f64") != std::string::npos || operation.starts_with("exch") ||
         operation.starts_with("cas");
}

/// Whether shared memory has no such operation: it knows integers of 32 bits, exchange, and compare
/// and swap.
bool is_loop_in_shared(const std::string& operation) {
  if (operation.starts_with("exch") || operation.starts_with("cas")) return false;
  return is_one_by_one(operation) || operation.ends_with("64");
}

/// exch and cas do nothing that another operation would not, but for the value they return.
bool needs_old_value(const std::string& operation) {
  return operation.starts_with("exch") || operation.starts_with("cas");
}

/// What an atomic instruction names beside its operands.
struct AtomicForm {
  ptx::Space space = ptx::Space::generic;
  std::string operation;
  std::size_t elements = 1;  ///< of .v2 and .v4, each of which is atomic by itself
};

AtomicForm form_of(const ptx::Instruction& instruction) {
  AtomicForm form;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "global") {
      form.space = ptx::Space::global;
    } else if (modifier == "shared" || modifier == "shared::cta") {
      form.space = ptx::Space::shared;
    } else if (modifier == "v2" || modifier == "v4") {
      form.elements = modifier == "v2" ? 2 : 4;
    } else if (!is_order_or_scope(modifier)) {
      form.operation += (form.operation.empty() ? "" : ".") + modifier;
    }
  }
  return form;
}

/// An atomic addition of floating-point numbers is an operation like any other addition.
Cost cost_of(const AtomicForm& form) {
  Cost cost{.cls = form.space == ptx::Space::shared ? InstructionClass::shared_atomic
                                                    : InstructionClass::global_atomic};
  if (!form.operation.starts_with("add.")) return cost;
  const auto adds = [&](const char* type) { return form.operation.ends_with(type); };
  if (adds(".f32")) cost.flop_type = ptx::Type::f32;
  if (adds(".f64")) cost.flop_type = ptx::Type::f64;
  if (adds(".f16") || adds(".f16x2")) cost.flop_type = ptx::Type::f16;
  if (adds(".bf16") || adds(".bf16x2")) cost.flop_type = ptx::Type::bf16;
  if (cost.flop_type != ptx::Type::none) cost.flops = adds("x2") ? 2 : 1;
  return cost;
}

/// atom returns the old value, red does not.
void build_atomic(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const AtomicForm form = form_of(instruction);
  const auto found = table_of_operations().find(form.operation);
  const std::size_t first = instruction.opcode == "atom" ? 1 : 0;
  if (found == table_of_operations().end()) builder.refuse(instruction.spelling());
  const Handlers& code = found->second;
  if (builder.operand_count() != first + (code.has_c ? 3 : 2) ||
      builder.width(first + 1) != form.elements ||
      (first == 1 && builder.width(0) != form.elements)) {
    builder.refuse(instruction.spelling() + " with other operands");
  }
  const bool is_float = form.operation.ends_with(".f32") || form.operation.ends_with(".f64");
  const char wide = is_float ? 'd' : 'l';
  const char narrow = is_float ? 'f' : 'i';
  const char kind = code.bytes == 8 ? wide : narrow;
  const Address address = builder.address(first, form.space);
  const std::vector<Ref> b = builder.sources(first + 1, kind);
  const Ref c = code.has_c ? builder.source(first + 2, kind) : b[0];
  std::vector<Ref> dst(form.elements);
  if (first == 1) dst = builder.destinations(0, kind);
  const bool is_shared = form.space == ptx::Space::shared;
  for (std::size_t i = 0; i < form.elements; ++i) {
    Pending& pending = builder.emit(is_shared                          ? code.shared
                                    : form.space == ptx::Space::global ? code.global
                                                                       : code.generic,
                                    cost_of(form));
    pending.a = address.base;
    pending.immediate = address.offset + static_cast<std::int64_t>(i * code.bytes);
    pending.b = b[i];
    pending.c = code.has_c ? c : b[i];
    pending.dst = dst[i];
    pending.option = static_cast<std::uint32_t>(first) | order_of(instruction) << 1;
    if (is_one_by_one(form.operation)) pending.option |= kLanesOneByOne << 1;
    if (is_loop_in_shared(form.operation)) pending.option |= kLoopInShared;
    if (address.base.kind == Ref::Kind::constant) pending.option |= kAddressInText;
    pending.is_memory = true;
    pending.access_bytes = code.bytes;
    pending.may_wait_for_blocks = first == 1 && !is_shared;
  }
  if (!is_shared) builder.mark_orders_blocks();
  if (instruction.has("sys")) builder.mark_signals_host();
  if (first == 1) {
    builder.mark_sees_order();
    builder.emit_hidden(hidden::kAsk, true);
  }
}

}  // namespace

std::vector<std::string> atomic_operations() {
  std::vector<std::string> names;
  for (const auto& [name, code] : table_of_operations()) names.push_back(name);
  return names;
}

OpcodeFile atomic_opcodes() {
  const std::string space = "[global|shared|shared::cta] [cta|cluster|gpu|sys] ";
  std::vector<ModifierForm> returning;
  std::vector<ModifierForm> reducing;
  for (const auto& [name, code] : table_of_operations()) {
    std::string operation = name;
    std::replace(operation.begin(), operation.end(), '.', ' ');
    returning.emplace_back(space + "[relaxed|acquire|release|acq_rel] " + operation);
    if (needs_old_value(name)) continue;
    reducing.emplace_back(space + "[relaxed|release] " + operation);
  }
  const std::string vector = "[global] [cta|cluster|gpu|sys] add v2|v4 f32";
  returning.emplace_back("[relaxed|acquire|release|acq_rel] " + vector);
  reducing.emplace_back("[relaxed|release] " + vector);
  return {.built = {{"atom", build_atomic, returning}, {"red", build_atomic, reducing}}};
}

}  // namespace simgpu
