#include <algorithm>
#include <map>

#include "simgpu/exec/memory_access.h"
#include "simgpu/exec/opcodes/opcode.h"

/// ld, st, ldu, prefetch.
namespace simgpu {
namespace {

template <unsigned kBytes, unsigned kCount>
struct Shared {
  static const Lowered* load(const Lowered* in, Warp& warp) {
    const auto from = prepare_shared<kBytes * kCount, AccessKind::load>(
        in, warp, addresses32(warp, in->a), in->immediate, nullptr);
    read_lanes<kBytes, kCount>(in, warp, from);
    return in + 1;
  }
  static const Lowered* store(const Lowered* in, Warp& warp) {
    StoredValues<kBytes, kCount> values;
    const auto to = prepare_shared<kBytes * kCount, AccessKind::store>(
        in, warp, addresses32(warp, in->a), in->immediate, values.pack(in, warp));
    write_lanes<kBytes, kCount>(in, warp, to);
    return in + 1;
  }
};

template <unsigned kBytes, unsigned kCount>
struct Global {
  static const Lowered* load(const Lowered* in, Warp& warp) {
    const auto from = prepare_global<kBytes * kCount, AccessKind::load, true>(
        in, warp, addresses64(warp, in->a), in->immediate, nullptr);
    read_lanes<kBytes, kCount>(in, warp, from);
    return after_global(in, warp);
  }
  static const Lowered* store(const Lowered* in, Warp& warp) {
    StoredValues<kBytes, kCount> values;
    const auto to = prepare_global<kBytes * kCount, AccessKind::store, true>(
        in, warp, addresses64(warp, in->a), in->immediate, values.pack(in, warp));
    write_lanes<kBytes, kCount>(in, warp, to);
    return after_global(in, warp);
  }
};

template <unsigned kBytes, unsigned kCount>
struct Constant {
  static const Lowered* load(const Lowered* in, Warp& warp) {
    const auto from = prepare_global<kBytes * kCount, AccessKind::load, false>(
        in, warp, addresses64(warp, in->a), in->immediate, nullptr);
    read_lanes<kBytes, kCount>(in, warp, from);
    return in + 1;
  }
};

/// Memory of one thread's own: local variables, and the .param space of calls.
template <unsigned kBytes, unsigned kCount, AccessKind kKind, class Base>
inline void move_own(const Lowered* in, Warp& warp, const LaneAddresses& addresses,
                     std::uint32_t limit, Base base) {
  using T = Element<kBytes>;
  constexpr unsigned kAll = kBytes * kCount;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t address = addresses[lane];
    if (address > limit || address + kAll > limit || address % kAll != 0) {
      fail_local(in, warp, kKind, kAll, lane, address);
    }
    std::byte* const at = base(lane) + address;
    for (unsigned i = 0; i < kCount; ++i) {
      if constexpr (kKind == AccessKind::load) {
        slot<T>(warp, element_slot(in, warp, kCount, i, in->dst))[lane] =
            load_element<T>(at + i * kBytes);
      } else {
        const auto value = slot<T>(warp, element_slot(in, warp, kCount, i, in->b))[lane];
        store_element<T>(at + i * kBytes, static_cast<T>(value));
      }
    }
  }
}

template <unsigned kBytes, unsigned kCount>
struct Local {
  template <AccessKind kKind>
  static void access(const Lowered* in, Warp& warp, const LaneAddresses& addresses) {
    BlockRunner& block = *warp.block;
    move_own<kBytes, kCount, kKind>(in, warp, addresses, block.local_bytes(),
                                    [&](unsigned lane) { return block.local(warp, lane); });
    ++(kKind == AccessKind::load ? block.counted().local_load_requests
                                 : block.counted().local_store_requests);
    if (BlockCheckers* checkers = block.checkers()) {
      checkers->local(
          {kKind, kBytes * kCount, warp.index, in->index, warp.mask, &addresses, nullptr});
    }
  }
  template <AccessKind kKind>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    access<kKind>(in, warp, addresses);
    return in + 1;
  }
  static const Lowered* load(const Lowered* in, Warp& warp) {
    return run<AccessKind::load>(in, warp);
  }
  static const Lowered* store(const Lowered* in, Warp& warp) {
    return run<AccessKind::store>(in, warp);
  }
};

/// .param space of inlined calls.
template <unsigned kBytes, unsigned kCount>
struct Frame {
  template <AccessKind kKind>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    BlockRunner& block = *warp.block;
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    move_own<kBytes, kCount, kKind>(in, warp, addresses, block.frame_bytes(),
                                    [&](unsigned lane) { return block.frame(warp, lane); });
    return in + 1;
  }
  static const Lowered* load(const Lowered* in, Warp& warp) {
    return run<AccessKind::load>(in, warp);
  }
  static const Lowered* store(const Lowered* in, Warp& warp) {
    return run<AccessKind::store>(in, warp);
  }
};

/// The kernel's own parameters.
template <unsigned kBytes, unsigned kCount>
struct Parameter {
  static const Lowered* load(const Lowered* in, Warp& warp) {
    using T = Element<kBytes>;
    const auto parameters = warp.block->launch().request.parameters;
    LaneAddresses addresses;
    add_offset(addresses, addresses32(warp, in->a), in->immediate);
    for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      if (addresses[lane] + kBytes * kCount > parameters.size()) {
        fail_local(in, warp, AccessKind::load, kBytes * kCount, lane, addresses[lane]);
      }
      for (unsigned i = 0; i < kCount; ++i) {
        slot<T>(warp, element_slot(in, warp, kCount, i, in->dst))[lane] =
            load_element<T>(parameters.data() + addresses[lane] + i * kBytes);
      }
    }
    return in + 1;
  }
};

/// Generic addresses: each lane goes where its address points to.
template <unsigned kBytes, unsigned kCount>
struct Generic {
  template <AccessKind kKind, class Word>
  static void move(const Lowered* in, Warp& warp, const Prepared<Word>& at) {
    if constexpr (kKind == AccessKind::load) {
      read_lanes<kBytes, kCount>(in, warp, at);
    } else {
      write_lanes<kBytes, kCount>(in, warp, at);
    }
  }
  template <AccessKind kKind>
  static const Lowered* run(const Lowered* in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    LaneAddresses addresses;
    add_offset(addresses, addresses64(warp, in->a), in->immediate);
    const GenericLanes lanes = sort_generic(addresses, mask);
    StoredValues<kBytes, kCount> stored;
    const std::uint8_t* values = kKind == AccessKind::store ? stored.pack(in, warp) : nullptr;
    if (lanes.shared != 0) {
      const auto offsets = shared_offsets(addresses);
      warp.mask = lanes.shared;
      move<kKind>(in, warp,
                  prepare_shared<kBytes * kCount, kKind>(in, warp, offsets.data(), 0, values));
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
      move<kKind>(in, warp,
                  prepare_global<kBytes * kCount, kKind, true>(in, warp, addresses64(warp, in->a),
                                                               in->immediate, values));
    }
    warp.mask = mask;
    return global ? after_global(in, warp) : in + 1;
  }
  static const Lowered* load(const Lowered* in, Warp& warp) {
    return run<AccessKind::load>(in, warp);
  }
  static const Lowered* store(const Lowered* in, Warp& warp) {
    return run<AccessKind::store>(in, warp);
  }
};

template <template <unsigned, unsigned> class Access>
Handler pick_load(unsigned bytes, unsigned count) {
  switch (bytes * 10 + count) {
    case 11:
      return &Access<1, 1>::load;
    case 12:
      return &Access<1, 2>::load;
    case 14:
      return &Access<1, 4>::load;
    case 21:
      return &Access<2, 1>::load;
    case 22:
      return &Access<2, 2>::load;
    case 24:
      return &Access<2, 4>::load;
    case 41:
      return &Access<4, 1>::load;
    case 42:
      return &Access<4, 2>::load;
    case 44:
      return &Access<4, 4>::load;
    case 81:
      return &Access<8, 1>::load;
    case 82:
      return &Access<8, 2>::load;
    default:
      return nullptr;
  }
}
template <template <unsigned, unsigned> class Access>
Handler pick_store(unsigned bytes, unsigned count) {
  switch (bytes * 10 + count) {
    case 11:
      return &Access<1, 1>::store;
    case 12:
      return &Access<1, 2>::store;
    case 14:
      return &Access<1, 4>::store;
    case 21:
      return &Access<2, 1>::store;
    case 22:
      return &Access<2, 2>::store;
    case 24:
      return &Access<2, 4>::store;
    case 41:
      return &Access<4, 1>::store;
    case 42:
      return &Access<4, 2>::store;
    case 44:
      return &Access<4, 4>::store;
    case 81:
      return &Access<8, 1>::store;
    case 82:
      return &Access<8, 2>::store;
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
};

/// Reads the modifiers. Cache hints, ordering and scopes do not change what a program sees here:
/// memory is sequentially consistent.
AccessForm parse_form(KernelBuilder& builder) {
  static const std::map<std::string, unsigned> kTypes{
      {"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2}, {"b32", 4},
      {"u32", 4}, {"s32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}};
  static const std::map<std::string, ptx::Space> kSpaces{
      {"global", ptx::Space::global},      {"shared", ptx::Space::shared},
      {"local", ptx::Space::local},        {"const", ptx::Space::constant},
      {"param", ptx::Space::param},        {"shared::cta", ptx::Space::shared},
      {"param::entry", ptx::Space::param}, {"param::func", ptx::Space::param}};
  static const std::vector<std::string> kWithoutEffect{
      "nc",      "volatile", "relaxed", "acquire", "release", "weak", "cta", "gpu", "sys",
      "cluster", "mmio",     "ca",      "cg",      "cs",      "lu",   "cv",  "wb",  "wt"};
  AccessForm form;
  const ptx::Instruction& instruction = builder.instruction();
  for (const std::string& modifier : instruction.modifiers) {
    const bool is_hint = modifier.rfind("L1::", 0) == 0 || modifier.rfind("L2::", 0) == 0;
    if (const auto type = kTypes.find(modifier); type != kTypes.end()) {
      form.bytes = type->second;
      form.is_signed = modifier[0] == 's';
    } else if (const auto space = kSpaces.find(modifier); space != kSpaces.end()) {
      form.space = space->second;
    } else if (modifier == "v2") {
      form.vector = 2;
    } else if (modifier == "v4") {
      form.vector = 4;
    } else if (!is_hint && std::find(kWithoutEffect.begin(), kWithoutEffect.end(), modifier) ==
                               kWithoutEffect.end()) {
      builder.refuse(instruction.spelling());
    }
  }
  if (form.bytes == 0) builder.refuse(instruction.spelling());
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

Handler load_handler(const AccessForm& form, bool kernel_parameter) {
  switch (form.space) {
    case ptx::Space::global:
      return pick_load<Global>(form.bytes, form.vector);
    case ptx::Space::shared:
      return pick_load<Shared>(form.bytes, form.vector);
    case ptx::Space::local:
      return pick_load<Local>(form.bytes, form.vector);
    case ptx::Space::constant:
      return pick_load<Constant>(form.bytes, form.vector);
    case ptx::Space::param:
      return kernel_parameter ? pick_load<Parameter>(form.bytes, form.vector)
                              : pick_load<Frame>(form.bytes, form.vector);
    default:
      return pick_load<Generic>(form.bytes, form.vector);
  }
}

Handler store_handler(const AccessForm& form, bool kernel_parameter) {
  switch (form.space) {
    case ptx::Space::global:
      return pick_store<Global>(form.bytes, form.vector);
    case ptx::Space::shared:
      return pick_store<Shared>(form.bytes, form.vector);
    case ptx::Space::local:
      return pick_store<Local>(form.bytes, form.vector);
    case ptx::Space::param:
      return kernel_parameter ? nullptr : pick_store<Frame>(form.bytes, form.vector);
    case ptx::Space::generic:
      return pick_store<Generic>(form.bytes, form.vector);
    default:
      return nullptr;
  }
}

Cost cost_of(const Address& address, bool load) {
  Cost cost{.cls = class_of(address, load)};
  cost.issues = address.space != ptx::Space::param;
  return cost;
}

/// A small load into a register wider than it: into a register of its own first, then extended.
struct Widening {
  Ref from, to;
  Handler handler = nullptr;
};

template <class Narrow, class Wide>
Wide extend(std::uint32_t x) {
  return static_cast<Wide>(static_cast<Narrow>(x));
}

Handler extension(unsigned bytes, bool is_signed, bool to_64) {
  if (to_64) {
    if (!is_signed) return hidden::kWiden;
    if (bytes == 1) return lanes<&extend<std::int8_t, std::int64_t>>().handler;
    if (bytes == 2) return lanes<&extend<std::int16_t, std::int64_t>>().handler;
    return lanes<&extend<std::int32_t, std::int64_t>>().handler;
  }
  if (bytes == 1) return lanes<&extend<std::int8_t, std::int32_t>>().handler;
  return lanes<&extend<std::int16_t, std::int32_t>>().handler;
}

void build_load(KernelBuilder& builder) {
  const AccessForm form = parse_form(builder);
  const Address address = builder.address(1, form.space);
  const Handler handler = load_handler(form, address.kernel_parameter);
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
  if (form.vector == 1) {
    pending.dst = outs[0];
  } else {
    pending.outs = outs;
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
  const Handler handler = store_handler(form, address.kernel_parameter);
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
  pending.access_bytes = form.bytes * form.vector;
  if (form.vector == 1) {
    pending.b = values[0];
  } else {
    pending.ins = values;
  }
}

const Lowered* do_nothing(const Lowered* in, Warp&) { return in + 1; }

void build_hint(KernelBuilder& builder) {
  builder.emit(&do_nothing, {.cls = InstructionClass::other});
}

}  // namespace

std::vector<BuiltOpcode> built_memory() {
  return {{"ld", build_load},       {"ldu", build_load},       {"st", build_store},
          {"prefetch", build_hint}, {"prefetchu", build_hint}, {"applypriority", build_hint},
          {"discard", build_hint}};
}

}  // namespace simgpu
