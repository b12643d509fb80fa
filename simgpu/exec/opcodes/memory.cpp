#include <map>

#include "simgpu/arith/bits.h"
#include "simgpu/exec/flag_access.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/own_memory.h"

/// ld, st, ldu.
namespace simgpu {
namespace {

/// What the lanes stored, as bytes one after the other for the checkers; nothing for a load.
template <AccessKind kKind, unsigned kBytes, unsigned kCount>
struct Stored {
  const std::uint8_t* pack([[maybe_unused]] const Lowered* in, [[maybe_unused]] Warp& warp) {
    if constexpr (kKind == AccessKind::store) return values.pack(in, warp);
    return nullptr;
  }
  StoredValues<kBytes, kCount> values;
};

template <AccessKind kKind, unsigned kBytes, unsigned kCount, bool kIsStrong = false, class Word>
inline void move_lanes(const Lowered* in, Warp& warp, const Prepared<Word>& at) {
  if constexpr (kKind == AccessKind::load) {
    read_lanes<kBytes, kCount>(in, warp, at);
    if constexpr (kIsStrong) look_at_flags(warp, at);
  } else {
    write_lanes<kBytes, kCount>(in, warp, at);
    store_flags(warp, at, warp.mask);
  }
}

/// Whether a store is about to change what is in memory: who polls waits for that.
template <unsigned kBytes, unsigned kCount>
void note_new_values(const Lowered* in, Warp& warp, const Prepared<std::uint64_t>& at) {
  using T = Element<kBytes>;
  for (unsigned i = 0; i < kCount; ++i) {
    const WordOf<T>* const from = slot<T>(warp, element_slot(in, warp, kCount, i, in->b));
    for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      const T value = static_cast<T>(from[lane]);
      if (std::memcmp(at.lane(lane) + i * kBytes, &value, kBytes) == 0) continue;
      warp.block->changes.note_new_value();
      return;
    }
  }
}

/// Behind an access of global memory, where a load may have read what nothing has written.
template <AccessKind kKind>
const Lowered* after_global_access(const Lowered* in, Warp& warp) {
  if constexpr (kKind == AccessKind::load) {
    if (warp.block->undefined.after_load(in, warp) == nullptr) return nullptr;
  }
  return after_global(in, warp);
}

// One class per place of memory; each has run<kind, is_strong> for kind load, and store where it
// can be stored to. What a strong access orders is its option.

template <unsigned kBytes, unsigned kCount>
struct Shared {
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    Stored<kKind, kBytes, kCount> stored;
    move_lanes<kKind, kBytes, kCount, kIsStrong>(
        in, warp,
        prepare_shared<kBytes * kCount, kKind, kIsStrong>(in, warp, addresses32(warp, in->a),
                                                          in->immediate, stored.pack(in, warp)));
    if constexpr (kKind == AccessKind::load) return warp.block->undefined.after_load(in, warp);
    return in + 1;
  }
};

template <unsigned kBytes, unsigned kCount>
struct Global {
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    Stored<kKind, kBytes, kCount> stored;
    const Prepared<std::uint64_t> at = prepare_global<kBytes * kCount, kKind, true, kIsStrong>(
        in, warp, addresses64(warp, in->a), in->immediate, stored.pack(in, warp));
    if (kKind == AccessKind::store && warp.block->launch.watches_values) [[unlikely]]
      note_new_values<kBytes, kCount>(in, warp, at);
    move_lanes<kKind, kBytes, kCount, kIsStrong>(in, warp, at);
    return after_global_access<kKind>(in, warp);
  }
};

template <unsigned kBytes, unsigned kCount>
struct Constant {
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    const Prepared<std::uint64_t> at = prepare_global<kBytes * kCount, kKind, false>(
        in, warp, addresses64(warp, in->a), in->immediate, nullptr);
    move_lanes<kKind, kBytes, kCount>(in, warp, at);
    note_constant_load(in, warp, at.site.shape == Shape::uniform ? 1 : words(in, warp));
    return in + 1;
  }

 private:
  static std::uint32_t words(const Lowered* in, Warp& warp) {
    LaneAddresses addresses;
    add_offset(addresses, addresses64(warp, in->a), in->immediate);
    return constant_words(warp.mask, addresses, kBytes * kCount);
  }
};

/// Generic addresses: each lane goes where its address points to.
template <unsigned kBytes, unsigned kCount>
struct Generic {
  template <AccessKind kKind, bool kIsStrong>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    LaneAddresses addresses;
    add_offset(addresses, addresses64(warp, in->a), in->immediate);
    const GenericLanes lanes = sort_generic(addresses, mask);
    Stored<kKind, kBytes, kCount> stored;
    const std::uint8_t* values = stored.pack(in, warp);
    if (lanes.shared != 0) {
      const auto offsets = shared_offsets(addresses);
      warp.mask = lanes.shared;
      move_lanes<kKind, kBytes, kCount, kIsStrong>(
          in, warp,
          prepare_shared<kBytes * kCount, kKind, kIsStrong>(in, warp, offsets.data(), 0, values));
    }
    if (lanes.local != 0) {
      LaneAddresses offsets;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        offsets[lane] = addresses[lane] - kLocalWindow;
      }
      warp.mask = lanes.local;
      Local<kBytes, kCount>::template access<kKind>(in, warp, offsets);
    }
    warp.mask = mask & ~(lanes.shared | lanes.local);
    const bool global = warp.mask != 0;
    if (global) {
      const Prepared<std::uint64_t> at = prepare_global<kBytes * kCount, kKind, true, kIsStrong>(
          in, warp, addresses64(warp, in->a), in->immediate, values);
      if (kKind == AccessKind::store && warp.block->launch.watches_values) [[unlikely]]
        note_new_values<kBytes, kCount>(in, warp, at);
      move_lanes<kKind, kBytes, kCount, kIsStrong>(in, warp, at);
    }
    warp.mask = mask;
    if constexpr (kKind == AccessKind::load) note_generic_load(warp, global);
    if (global) return after_global_access<kKind>(in, warp);
    return kKind == AccessKind::load ? warp.block->undefined.after_load(in, warp) : in + 1;
  }
};

template <template <unsigned, unsigned> class Access, AccessKind kKind, bool kIsStrong = false>
Handler pick(unsigned bytes, unsigned count) {
  switch (bytes * 10 + count) {
    case 11:
      return &Access<1, 1>::template run<kKind, kIsStrong>;
    case 12:
      return &Access<1, 2>::template run<kKind, kIsStrong>;
    case 14:
      return &Access<1, 4>::template run<kKind, kIsStrong>;
    case 21:
      return &Access<2, 1>::template run<kKind, kIsStrong>;
    case 22:
      return &Access<2, 2>::template run<kKind, kIsStrong>;
    case 24:
      return &Access<2, 4>::template run<kKind, kIsStrong>;
    case 41:
      return &Access<4, 1>::template run<kKind, kIsStrong>;
    case 42:
      return &Access<4, 2>::template run<kKind, kIsStrong>;
    case 44:
      return &Access<4, 4>::template run<kKind, kIsStrong>;
    case 81:
      return &Access<8, 1>::template run<kKind, kIsStrong>;
    case 82:
      return &Access<8, 2>::template run<kKind, kIsStrong>;
    default:
      return nullptr;
  }
}

// Building.

struct AccessForm {
  ptx::Space space = ptx::Space::generic;
  unsigned bytes = 0;
  unsigned vector = 1;
  bool is_signed = false;
  std::uint8_t order = 0;    ///< of a strong access (WarpAccess::order)
  bool is_volatile = false;  ///< may wait for what others store, as strong loads may
  bool skips_l1 = false;

  /// Of an access that is more than a plain one.
  std::uint8_t option() const {
    return static_cast<std::uint8_t>(order | (skips_l1 ? kSkipsL1 : 0));
  }
};

/// WarpAccess::order of a load or store.
std::uint8_t order_of(const ptx::Instruction& instruction) {
  const bool acquires = instruction.has("acquire");
  const bool releases = instruction.has("release");
  // PTX gives .volatile the meaning of .relaxed.sys. In shared memory it counts as a plain access
  // all the same: what was once written without barriers for the lockstep of a warp is a race
  // today.
  const bool is_volatile =
      instruction.has("volatile") && !instruction.has("shared") && !instruction.has("shared::cta");
  if (!acquires && !releases && !is_volatile && !instruction.has("relaxed")) return 0;
  return static_cast<std::uint8_t>(kStrong | (acquires ? kAcquires : 0) |
                                   (releases ? kReleases : 0) |
                                   (instruction.has("cta") ? kOrdersBlock : 0));
}

/// Reads the modifiers, which are of one of the forms below. Cache operators, ordering and scopes
/// do not change what a program sees here, for memory is sequentially consistent; ordering and
/// scopes tell the checkers which accesses race, and of cache operators the counters know those
/// that keep a load out of L1.
AccessForm parse_form(KernelBuilder& builder) {
  static const std::map<std::string, unsigned> kTypes{
      {"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2}, {"b32", 4},
      {"u32", 4}, {"s32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}};
  static const std::map<std::string, ptx::Space> kSpaces{
      {"global", ptx::Space::global},      {"shared", ptx::Space::shared},
      {"local", ptx::Space::local},        {"const", ptx::Space::constant},
      {"param", ptx::Space::param},        {"shared::cta", ptx::Space::shared},
      {"param::entry", ptx::Space::param}, {"param::func", ptx::Space::param}};
  AccessForm form;
  const ptx::Instruction& instruction = builder.instruction();
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto type = kTypes.find(modifier); type != kTypes.end()) {
      form.bytes = type->second;
      form.is_signed = modifier[0] == 's';
    } else if (const auto space = kSpaces.find(modifier); space != kSpaces.end()) {
      form.space = space->second;
    } else if (modifier == "v2") {
      form.vector = 2;
    } else if (modifier == "v4") {
      form.vector = 4;
    }
  }
  form.order = order_of(instruction);
  form.is_volatile = instruction.has("volatile");
  form.skips_l1 = instruction.opcode == "ld" && (instruction.has("cg") || instruction.has("cv")) &&
                  (form.space == ptx::Space::global || form.space == ptx::Space::generic);
  // A cache policy is a third operand; what it says does not matter, but it has to be one.
  const bool has_policy = instruction.has("L2::cache_hint");
  if (builder.operand_count() != (has_policy ? 3U : 2U)) {
    builder.refuse(instruction.spelling() + " with " + std::to_string(builder.operand_count()) +
                   " operands");
  }
  if (has_policy) builder.source(std::size_t{2}, 'l');
  return form;
}

InstructionClass class_of(const Address& address, bool load) {
  using enum InstructionClass;
  switch (address.space) {
    case ptx::Space::global:
      return load ? global_load : global_store;
    case ptx::Space::shared:
      return load ? shared_load : shared_store;
    case ptx::Space::local:
      return load ? local_load : local_store;
    case ptx::Space::constant:
      return constant_load;
    case ptx::Space::param:
      return address.kernel_parameter ? constant_load : move;
    default:
      return generic_access;
  }
}

template <AccessKind kKind, bool kIsStrong = false>
Handler handler_of(const AccessForm& form, bool kernel_parameter) {
  constexpr bool kLoads = kKind == AccessKind::load;
  switch (form.space) {
    case ptx::Space::global:
      return pick<Global, kKind, kIsStrong>(form.bytes, form.vector);
    case ptx::Space::shared:
      return pick<Shared, kKind, kIsStrong>(form.bytes, form.vector);
    case ptx::Space::local:
      return pick<Local, kKind>(form.bytes, form.vector);
    case ptx::Space::constant:
      return kLoads ? pick<Constant, AccessKind::load>(form.bytes, form.vector) : nullptr;
    case ptx::Space::param:
      if (!kernel_parameter) return pick<Frame, kKind>(form.bytes, form.vector);
      return kLoads ? pick<Parameter, AccessKind::load>(form.bytes, form.vector) : nullptr;
    default:
      return pick<Generic, kKind, kIsStrong>(form.bytes, form.vector);
  }
}

Cost cost_of(const Address& address, bool load) {
  Cost cost{.cls = class_of(address, load)};
  cost.issues = address.space != ptx::Space::param;
  return cost;
}

template <AccessKind kKind>
Handler handler_of(const AccessForm& form, const Address& address) {
  const bool may_be_flag = form.option() != 0 || form.is_volatile;
  return may_be_flag ? handler_of<kKind, true>(form, address.kernel_parameter)
                     : handler_of<kKind>(form, address.kernel_parameter);
}

/// Blocks may tell each other something by this access: they then run in order on one worker, and
/// side by side where one waits.
void note_order(KernelBuilder& builder, const AccessForm& form) {
  const bool is_global =
      form.space == ptx::Space::global || (form.order != 0 && form.space == ptx::Space::generic);
  const bool tells = form.is_volatile || (form.order != 0 && (form.order & kOrdersBlock) == 0);
  if (is_global && tells) builder.mark_orders_blocks();
}

/// A small load into a register wider than it: into a register of its own first, then extended.
struct Widening {
  Ref from, to;
  Handler handler = nullptr;
};

Handler extension(unsigned bytes, bool is_signed, bool to_64) {
  if (to_64) {
    if (!is_signed) return hidden::kWiden;
    if (bytes == 1) return lanes<&arith::extend<std::int8_t, std::int64_t>>().handler;
    if (bytes == 2) return lanes<&arith::extend<std::int16_t, std::int64_t>>().handler;
    return lanes<&arith::extend<std::int32_t, std::int64_t>>().handler;
  }
  if (bytes == 1) return lanes<&arith::extend<std::int8_t, std::int32_t>>().handler;
  return lanes<&arith::extend<std::int16_t, std::int32_t>>().handler;
}

void build_load(KernelBuilder& builder) {
  const AccessForm form = parse_form(builder);
  const Address address = builder.address(1, form.space);
  const Handler handler = handler_of<AccessKind::load>(form, address);
  if (handler == nullptr || builder.width(0) != form.vector) {
    builder.refuse(builder.instruction().spelling());
  }
  std::vector<Ref> outs;
  std::vector<Widening> widenings;
  for (const ptx::Scalar& element : builder.instruction().operands[0].elements) {
    const unsigned bits = builder.register_bits(element);
    const bool to_64 = bits == 64;
    if (form.bytes == 8 || bits == 0) {
      outs.push_back(builder.destination(element, form.bytes == 8 ? 'l' : 'i'));
    } else if (to_64 || (form.is_signed && bits > 8 * form.bytes)) {
      const Ref to = builder.destination(element, to_64 ? 'l' : 'i');
      const Ref narrow = builder.new_register(SlotKind::word);
      outs.push_back(narrow);
      widenings.push_back({narrow, to, extension(form.bytes, form.is_signed, to_64)});
    } else {
      outs.push_back(builder.destination(element, 'i'));
    }
  }
  Pending& pending = builder.emit(handler, cost_of(address, true));
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.is_memory = true;
  pending.access_bytes = form.bytes * form.vector;
  if (address.passed) builder.note_passed(pending, *address.passed, false);
  if (form.vector == 1) {
    pending.dst = outs[0];
  } else {
    pending.outs = outs;
  }
  pending.option = form.option();
  pending.is_volatile = form.is_volatile;
  pending.orders_others = form.order != 0;
  pending.reads_unchanged =
      builder.instruction().has("nc") || builder.instruction().opcode == "ldu";
  note_order(builder, form);
  const bool may_be_global = form.space == ptx::Space::global || form.space == ptx::Space::generic;
  pending.may_wait_for_blocks = may_be_global && (form.order != 0 || form.is_volatile);
  if (form.order != 0 || form.is_volatile) {
    builder.mark_sees_order();
    Pending& poll = builder.emit_hidden(hidden::kPoll, true);
    poll.a = outs[0];
    poll.b = address.base;
    poll.option = slot_bytes(form.bytes == 8 ? SlotKind::pair : SlotKind::word);
    poll.immediate = slot_bytes(form.space == ptx::Space::shared ? SlotKind::word : SlotKind::pair);
  }
  for (const Widening& widening : widenings) {
    Pending& widen = builder.emit_hidden(widening.handler, true);
    widen.a = widening.from;
    widen.dst = widening.to;
  }
}

void build_store(KernelBuilder& builder) {
  const AccessForm form = parse_form(builder);
  const Address address = builder.address(0, form.space);
  const Handler handler = handler_of<AccessKind::store>(form, address);
  if (handler == nullptr || builder.width(1) != form.vector) {
    builder.refuse(builder.instruction().spelling());
  }
  const bool is_float = builder.instruction().has("f32") || builder.instruction().has("f64");
  const char wide = is_float ? 'd' : 'l';
  const char narrow = is_float ? 'f' : 'i';
  const std::vector<Ref> values = builder.sources(1, form.bytes == 8 ? wide : narrow);
  Pending& pending = builder.emit(handler, cost_of(address, false));
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.is_memory = true;
  pending.only_stores = true;
  pending.access_bytes = form.bytes * form.vector;
  if (address.passed) builder.note_passed(pending, *address.passed, true);
  if (form.order != 0) pending.option = form.order;
  if (form.vector == 1) {
    pending.b = values[0];
  } else {
    pending.ins = values;
  }
  note_order(builder, form);
  const bool may_be_global = form.space == ptx::Space::global || form.space == ptx::Space::generic;
  if (may_be_global && (form.order != 0 || form.is_volatile)) builder.mark_signals_host();
}

// Forms.

/// Groups of modifiers that several forms share.
struct FormParts {
  std::string elements = " [v2|v4] b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64";
  std::string scope = " cta|cluster|gpu|sys";
  std::string coherent_space = " [global|shared|shared::cta]";  ///< that other threads see
  std::string policy = " [L2::cache_hint]";
  std::string eviction =
      " [L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate]"
      " [L2::evict_normal|L2::evict_first|L2::evict_last]" +
      policy;
  std::string prefetch = " [L2::64B|L2::128B|L2::256B]";
};

std::vector<ModifierForm> load_forms() {
  const FormParts parts;
  const std::string space =
      " [global|shared|shared::cta|local|const|param|param::entry|param::func]";
  const std::string cached = " [ca|cg|cs|lu|cv]";
  const std::string to = parts.elements + " [unified]";
  return {
      "[weak]" + space + cached + to,
      "[weak] [global] [nc]" + cached + parts.policy + parts.prefetch + to,
      "[weak] [global] [nc]" + parts.eviction + parts.prefetch + to,
      "volatile" + parts.coherent_space + parts.prefetch + to,
      "relaxed|acquire" + parts.scope + parts.coherent_space + parts.eviction + parts.prefetch + to,
      "mmio relaxed sys [global]" + to};
}

std::vector<ModifierForm> store_forms() {
  const FormParts parts;
  const std::string space = " [global|shared|shared::cta|local|param|param::func]";
  const std::string cached = " [wb|cg|cs|wt]";
  return {"[weak]" + space + cached + parts.elements,
          "[weak] [global]" + cached + parts.policy + parts.elements,
          "[weak] [global]" + parts.eviction + parts.elements,
          "volatile" + parts.coherent_space + parts.elements,
          "relaxed|release" + parts.scope + parts.coherent_space + parts.eviction + parts.elements,
          "mmio relaxed sys [global]" + parts.elements};
}

}  // namespace

Handler hidden::frame_access(bool stores, unsigned bytes) {
  return stores ? pick<Frame, AccessKind::store>(bytes, 1)
                : pick<Frame, AccessKind::load>(bytes, 1);
}

OpcodeFile memory_opcodes() {
  return {.built = {{"ld", build_load, load_forms()},
                    {"ldu", build_load, {"[global]" + FormParts().elements}},
                    {"st", build_store, store_forms()}}};
}

}  // namespace simgpu
