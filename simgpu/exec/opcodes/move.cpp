#include <algorithm>

#include "simgpu/arith/bits.h"
#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/lanes.h"

/// mov, cvta, isspacep, and the special registers.
namespace simgpu {
namespace {

/// The assembler folds copies and literals into other instructions.
constexpr Cost kFolded{.cls = InstructionClass::move, .issues = false};
constexpr Cost kMove{.cls = InstructionClass::move};

template <class T>
void spread(Warp& warp, const Lowered* in, T value) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    slot<T>(warp, in->dst)[__builtin_ctz(left)] = value;
  }
}

// Special registers.

template <unsigned kAxis>
const Lowered* thread_index(const Lowered* in, Warp& warp) {
  const std::uint32_t* const from = warp.block->thread_coordinate(warp, kAxis);
  blend(words(warp, in->dst), reinterpret_cast<const Word32*>(from), warp.mask);
  return in + 1;
}

std::uint32_t axis_of(const Dim3& dimensions, unsigned axis) {
  return axis == 0 ? dimensions.x : axis == 1 ? dimensions.y : dimensions.z;
}

/// Values that are the same for the whole warp.
enum class Uniform : std::uint32_t {
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  warpid,
  nwarpid,
  smid,
  nsmid,
  clock,
  clock_hi,
  dynamic_shared,
  total_shared,
  workspace_high,
  workspace_low,
  zero,
  one,
};

std::uint32_t uniform_value(Uniform what, const Lowered* in, const Warp& warp) {
  const BlockRunner& block = *warp.block;
  const LaunchRequest& request = block.launch().request;
  const auto index = static_cast<unsigned>(what);
  switch (what) {
    case Uniform::ntid_x:
    case Uniform::ntid_y:
    case Uniform::ntid_z:
      return axis_of(request.block, index);
    case Uniform::ctaid_x:
    case Uniform::ctaid_y:
    case Uniform::ctaid_z:
      return axis_of(block.block_index(), index - 3);
    case Uniform::nctaid_x:
    case Uniform::nctaid_y:
    case Uniform::nctaid_z:
      return axis_of(request.grid, index - 6);
    case Uniform::warpid:
      return warp.index;
    case Uniform::nwarpid:
      return static_cast<std::uint32_t>(block.warp_count());
    case Uniform::smid:
      return static_cast<std::uint32_t>(block.block() %
                                        static_cast<unsigned>(block.launch().gpu.sm_count));
    case Uniform::nsmid:
      return static_cast<std::uint32_t>(block.launch().gpu.sm_count);
    case Uniform::clock:
      return static_cast<std::uint32_t>(warp.clock - in->block_length);
    case Uniform::clock_hi:
      return static_cast<std::uint32_t>(warp.clock >> 32);
    case Uniform::dynamic_shared:
      return request.dynamic_shared_bytes;
    case Uniform::total_shared:
      return block.shared_bytes();
    case Uniform::workspace_high:
      return static_cast<std::uint32_t>(request.grid_workspace >> 32);
    case Uniform::workspace_low:
      return static_cast<std::uint32_t>(request.grid_workspace);
    case Uniform::zero:
      return 0;
    case Uniform::one:
      return 1;
  }
  return 0;
}

const Lowered* uniform(const Lowered* in, Warp& warp) {
  spread<std::uint32_t>(warp, in, uniform_value(static_cast<Uniform>(in->option), in, warp));
  return in + 1;
}

/// A loop that looks at the time ends some day, whatever else it reads.
void looks_at_time(Warp& warp) { warp.waiting_turns = 0; }

/// %clock64: this warp's instructions so far, as cycles.
const Lowered* clock64(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint64_t>(warp, in, warp.clock - in->block_length);
  return in + 1;
}

std::uint64_t nanoseconds(const Lowered* in, const Warp& warp) {
  const LaunchContext& launch = warp.block->launch();
  const double cycles = static_cast<double>(warp.clock - in->block_length);
  const double ns = launch.request.clock_us * 1e3 + cycles * 1e3 / launch.gpu.clock_mhz;
  return static_cast<std::uint64_t>(ns);
}

const Lowered* global_timer(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint64_t>(warp, in, nanoseconds(in, warp));
  return in + 1;
}

/// Half of %globaltimer: option is how far it lies up.
const Lowered* half_of_timer(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint32_t>(warp, in, static_cast<std::uint32_t>(nanoseconds(in, warp) >> in->option));
  return in + 1;
}

const Lowered* zero64(const Lowered* in, Warp& warp) {
  spread<std::uint64_t>(warp, in, 0);
  return in + 1;
}

/// Values that depend on the lane alone.
enum class OfLane : std::uint32_t { id, mask_eq, mask_lt, mask_le, mask_gt, mask_ge };

const Lowered* of_lane(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t bit = 1U << lane;
    std::uint32_t value = lane;
    switch (static_cast<OfLane>(in->option)) {
      case OfLane::id:
        value = lane;
        break;
      case OfLane::mask_eq:
        value = bit;
        break;
      case OfLane::mask_lt:
        value = bit - 1;
        break;
      case OfLane::mask_le:
        value = bit | (bit - 1);
        break;
      case OfLane::mask_gt:
        value = ~(bit | (bit - 1));
        break;
      case OfLane::mask_ge:
        value = ~(bit - 1);
        break;
    }
    words(warp, in->dst)[lane] = value;
  }
  return in + 1;
}

// mov.

void emit_part(KernelBuilder& builder, const ptx::Scalar& to, Ref from,
               const Implementation& code) {
  if (std::holds_alternative<ptx::Sink>(to)) return;
  const Ref dst = builder.destination(to, 'i');
  Pending& pending = builder.emit(code.handler, kFolded);
  pending.a = from;
  pending.dst = dst;
}

template <unsigned kFirst>
std::uint32_t part8(std::uint32_t x) {
  return x >> kFirst & 0xFFU;
}
std::uint32_t join8(std::uint32_t low, std::uint32_t high) {
  return (low & 0xFFU) | (high & 0xFFU) << 8;
}

/// What takes each of the parts of a value of `bits`; nothing where there is no such form.
std::vector<Implementation> parts_of(unsigned bits, std::size_t count) {
  using std::uint32_t;
  using std::uint64_t;
  if (bits == 64 && count == 2) return {lanes<&arith::part32<0>>(), lanes<&arith::part32<32>>()};
  if (bits == 64 && count == 4) {
    return {lanes<&arith::part16<0, uint64_t>>(), lanes<&arith::part16<16, uint64_t>>(),
            lanes<&arith::part16<32, uint64_t>>(), lanes<&arith::part16<48, uint64_t>>()};
  }
  if (bits == 32 && count == 2) {
    return {lanes<&arith::part16<0, uint32_t>>(), lanes<&arith::part16<16, uint32_t>>()};
  }
  if (bits == 32 && count == 4) {
    return {lanes<&part8<0>>(), lanes<&part8<8>>(), lanes<&part8<16>>(), lanes<&part8<24>>()};
  }
  if (bits == 16 && count == 2) return {lanes<&part8<0>>(), lanes<&part8<8>>()};
  return {};
}

/// A copy, for what is written first may be read later.
Ref kept(KernelBuilder& builder, Ref from, bool wide) {
  const Ref copy = builder.new_register(wide ? SlotKind::pair : SlotKind::word);
  Pending& keep = builder.emit_hidden(wide ? lanes<&arith::copy<std::uint64_t>>().handler
                                           : lanes<&arith::copy<std::uint32_t>>().handler);
  keep.a = from;
  keep.dst = copy;
  return copy;
}

/// Parts of a value go to registers one after the other.
void unpack(KernelBuilder& builder, unsigned bits) {
  const auto& parts = builder.instruction().operands[0].elements;
  const bool wide = bits == 64;
  const std::vector<Implementation> takes = parts_of(bits, parts.size());
  if (takes.empty()) builder.refuse(builder.instruction().spelling());
  const Ref from = kept(builder, builder.source(std::size_t{1}, wide ? 'l' : 'i'), wide);
  for (std::size_t i = 0; i < parts.size(); ++i) emit_part(builder, parts[i], from, takes[i]);
}

Ref join(KernelBuilder& builder, const Implementation& code, Ref low, Ref high) {
  const Ref joined = builder.new_register(SlotKind::word);
  Pending& pending = builder.emit_hidden(code.handler);
  pending.a = low;
  pending.b = high;
  pending.dst = joined;
  return joined;
}

void pack(KernelBuilder& builder, unsigned bits) {
  std::vector<Ref> parts = builder.sources(1, 'i');
  const Ref dst = builder.destination(std::size_t{0}, bits == 64 ? 'l' : 'i');
  // Of four parts, first two and two.
  const bool four = parts.size() == 4;
  const unsigned each = bits / static_cast<unsigned>(std::max<std::size_t>(parts.size(), 1));
  if ((parts.size() != 2 && !four) || each < 8) builder.refuse(builder.instruction().spelling());
  if (four) {
    const Implementation halves = each == 16 ? lanes<&arith::join16>() : lanes<&join8>();
    parts = {join(builder, halves, parts[0], parts[1]), join(builder, halves, parts[2], parts[3])};
  }
  const Implementation whole = bits == 64   ? lanes<&arith::join32>()
                               : bits == 32 ? lanes<&arith::join16>()
                                            : lanes<&join8>();
  Pending& pending = builder.emit(whole.handler, kFolded);
  pending.a = parts[0];
  pending.b = parts[1];
  pending.dst = dst;
}

Handler copy_of(unsigned bits) {
  if (bits == 16) return lanes<&arith::copy<std::uint16_t>>().handler;
  return bits == 64 ? lanes<&arith::copy<std::uint64_t>>().handler
                    : lanes<&arith::copy<std::uint32_t>>().handler;
}

/// The sources of mov.v4: %tid and its like have the elements x, y, z and a last one that is 0.
std::vector<Ref> elements_to_move(KernelBuilder& builder, char kind) {
  const ptx::Operand& from = builder.instruction().operands[1];
  const auto* special = std::get_if<ptx::SpecialRegister>(&from.elements.at(0));
  if (special == nullptr || from.kind != ptx::Operand::Kind::scalar)
    return builder.sources(1, kind);
  std::vector<Ref> elements;
  for (const char* axis : {".x", ".y", ".z"}) {
    elements.push_back(builder.source(ptx::SpecialRegister{special->name + axis}, kind));
  }
  elements.push_back(builder.constant(0, 4));
  return elements;
}

/// mov.v2 and mov.v4: each element by itself.
void move_elements(KernelBuilder& builder, unsigned bits, std::size_t count, char kind) {
  const bool wide = bits == 64;
  std::vector<Ref> from = elements_to_move(builder, kind);
  const std::vector<Ref> to = builder.destinations(0, kind);
  if (from.size() != count || to.size() != count) {
    builder.refuse(builder.instruction().spelling() + " with other operands");
  }
  for (Ref& element : from) element = kept(builder, element, wide);
  for (std::size_t i = 0; i < count; ++i) {
    Pending& pending = builder.emit(copy_of(bits), kFolded);
    pending.a = from[i];
    pending.dst = to[i];
  }
}

/// Bits of a type that mov takes; 0 for a modifier that is none.
unsigned bits_to_move(const std::string& type) {
  static const std::map<std::string, unsigned> kBits{
      {"b16", 16},    {"u16", 16}, {"s16", 16}, {"f16", 16}, {"bf16", 16},
      {"b32", 32},    {"u32", 32}, {"s32", 32}, {"f32", 32}, {"f16x2", 32},
      {"bf16x2", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f64", 64}};
  const auto found = kBits.find(type);
  return found == kBits.end() ? 0 : found->second;
}

void build_mov(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (builder.operand_count() != 2) builder.refuse(instruction.spelling());
  std::string type;
  for (const std::string& modifier : instruction.modifiers) {
    if (bits_to_move(modifier) != 0) type = modifier;
  }
  const unsigned bits = bits_to_move(type);
  const char kind = type == "f64" ? 'd' : type == "f32" ? 'f' : bits == 64 ? 'l' : 'i';
  const bool two = instruction.has("v2");
  if (two || instruction.has("v4")) return move_elements(builder, bits, two ? 2 : 4, kind);
  using Kind = ptx::Operand::Kind;
  if (instruction.operands[0].kind == Kind::vector) return unpack(builder, bits);
  if (instruction.operands[1].kind == Kind::vector) return pack(builder, bits);
  const bool special =
      std::holds_alternative<ptx::SpecialRegister>(instruction.operands[1].elements.at(0));
  const Ref from = builder.source(std::size_t{1}, kind);
  const Ref dst = builder.destination(std::size_t{0}, kind);
  Pending& pending = builder.emit(copy_of(bits), special ? kMove : kFolded);
  pending.a = from;
  pending.dst = dst;
}

// Address spaces.

template <std::uint64_t kWindow>
std::uint64_t to_generic(std::uint64_t x) {
  return x + kWindow;
}
template <std::uint64_t kWindow>
std::uint64_t from_generic(std::uint64_t x) {
  return x - kWindow;
}
template <std::uint64_t kWindow>
bool in_window(std::uint64_t x) {
  return x - kWindow < kWindowBytes;
}
bool in_global(std::uint64_t x) {
  return x - kSharedWindow >= kWindowBytes && x - kLocalWindow >= kWindowBytes;
}
bool nowhere(std::uint64_t) { return false; }
/// Whether x is in a constant variable, or has been in one before it.
bool in_constant(std::uint64_t x, std::uint64_t begin, std::uint64_t bytes, bool before) {
  return before || x - begin < bytes;
}
bool outside_constant(std::uint64_t x, std::uint64_t begin, std::uint64_t bytes, bool before) {
  return before && x - begin >= bytes;
}

/// cvta{.to}.SPACE.u64: global and constant addresses are generic ones already.
void build_cvta(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (!instruction.has("u64")) builder.refuse(instruction.spelling());
  const bool to = instruction.has("to");
  Handler handler = lanes<&arith::copy<std::uint64_t>>().handler;
  if (instruction.has("shared") || instruction.has("shared::cta")) {
    handler = to ? lanes<&from_generic<kSharedWindow>>().handler
                 : lanes<&to_generic<kSharedWindow>>().handler;
  } else if (instruction.has("local")) {
    handler = to ? lanes<&from_generic<kLocalWindow>>().handler
                 : lanes<&to_generic<kLocalWindow>>().handler;
  } else if (!instruction.has("global") && !instruction.has("const")) {
    builder.refuse(instruction.spelling());
  }
  const Ref from = builder.source(std::size_t{1}, 'l');
  const Ref dst = builder.destination(std::size_t{0}, 'l');
  Pending& pending = builder.emit(handler, kFolded);
  pending.a = from;
  pending.dst = dst;
}

void build_isspacep(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  Handler handler = nullptr;
  if (instruction.has("shared") || instruction.has("shared::cta")) {
    handler = lanes<&in_window<kSharedWindow>>().handler;
  } else if (instruction.has("local")) {
    handler = lanes<&in_window<kLocalWindow>>().handler;
  } else if (instruction.has("global")) {
    handler = lanes<&in_global>().handler;
  } else if (instruction.has("const")) {
    handler = lanes<&nowhere>().handler;
  } else {
    builder.refuse(instruction.spelling());
  }
  const Ref from = builder.source(std::size_t{1}, 'l');
  const Ref dst = builder.destination(std::size_t{0}, 'p');
  Pending& pending = builder.emit(handler, {.cls = InstructionClass::integer});
  pending.a = from;
  pending.dst = dst;
  if (!instruction.has("global") && !instruction.has("const")) return;
  // Constant variables are in device memory, each at a place of its own.
  const Handler constant =
      instruction.has("const") ? lanes<&in_constant>().handler : lanes<&outside_constant>().handler;
  for (const ptx::Variable& variable : builder.module().variables) {
    if (variable.space != ptx::Space::constant) continue;
    const std::optional<VariableHome> home = builder.find_variable(variable.name);
    if (!home) continue;
    const Ref begin = builder.constant(home->address, 8);
    const Ref bytes = builder.constant(home->bytes, 8);
    Pending& refine = builder.emit_hidden(constant, true);
    refine.a = from;
    refine.b = begin;
    refine.c = bytes;
    refine.d = dst;
    refine.dst = dst;
  }
}

std::uint32_t saturate(std::uint64_t x) {
  return x > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(x);
}

/// option 0: an address, with the immediate added to it (the sum may be in bounds where the base is
/// not); one too large for 32 bits becomes the largest one, so that it stays out of bounds.
/// option 1: the low half.
const Lowered* narrow(const Lowered* in, Warp& warp) {
  Source<std::uint64_t> from(warp, in->a);
  if (in->option == 1) {
    store_lanes<&arith::part32<0>, std::uint32_t>(warp, in->dst, from);
    return in + 1;
  }
  alignas(64) std::array<std::uint64_t, kWarpSize> sums;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    sums[lane] = from[lane] + static_cast<std::uint64_t>(in->immediate);
  }
  from.values = sums.data();
  store_lanes<&saturate, std::uint32_t>(warp, in->dst, from);
  return in + 1;
}

/// An array's element: the assembler computes its place in the array in 32 bits.
std::uint64_t element_address(std::uint64_t array, std::uint32_t index, std::uint32_t more,
                              std::uint32_t bytes) {
  return array + (index + more) * bytes;
}

}  // namespace

namespace hidden {

const Handler kSaturate = &narrow;
const Handler kWiden = lanes<&arith::widen>().handler;
const Handler kElementAddress = &detail::Deduce<&element_address>::type::run;

Handler special_register(std::string_view name, std::uint32_t& option) {
  static const std::map<std::string, Uniform, std::less<>> kUniform{
      {"%ntid.x", Uniform::ntid_x},
      {"%ntid.y", Uniform::ntid_y},
      {"%ntid.z", Uniform::ntid_z},
      {"%ctaid.x", Uniform::ctaid_x},
      {"%ctaid.y", Uniform::ctaid_y},
      {"%ctaid.z", Uniform::ctaid_z},
      {"%nctaid.x", Uniform::nctaid_x},
      {"%nctaid.y", Uniform::nctaid_y},
      {"%nctaid.z", Uniform::nctaid_z},
      {"%warpid", Uniform::warpid},
      {"%nwarpid", Uniform::nwarpid},
      {"%smid", Uniform::smid},
      {"%nsmid", Uniform::nsmid},
      {"%clock", Uniform::clock},
      {"%clock_hi", Uniform::clock_hi},
      {"%dynamic_smem_size", Uniform::dynamic_shared},
      {"%total_smem_size", Uniform::total_shared},
      // As cooperative_groups/details/driver_abi.h reads them.
      {"%envreg0", Uniform::zero},
      {"%envreg1", Uniform::workspace_high},
      {"%envreg2", Uniform::workspace_low},
      // A launch without clusters has clusters of one block.
      {"%cluster_ctaid.x", Uniform::zero},
      {"%cluster_ctaid.y", Uniform::zero},
      {"%cluster_ctaid.z", Uniform::zero},
      {"%cluster_ctarank", Uniform::zero},
      {"%cluster_nctaid.x", Uniform::one},
      {"%cluster_nctaid.y", Uniform::one},
      {"%cluster_nctaid.z", Uniform::one},
      {"%cluster_nctarank", Uniform::one},
      {"%clusterid.x", Uniform::ctaid_x},
      {"%clusterid.y", Uniform::ctaid_y},
      {"%clusterid.z", Uniform::ctaid_z},
      {"%nclusterid.x", Uniform::nctaid_x},
      {"%nclusterid.y", Uniform::nctaid_y},
      {"%nclusterid.z", Uniform::nctaid_z}};
  static const std::map<std::string, OfLane, std::less<>> kOfLane{
      {"%laneid", OfLane::id},           {"%lanemask_eq", OfLane::mask_eq},
      {"%lanemask_lt", OfLane::mask_lt}, {"%lanemask_le", OfLane::mask_le},
      {"%lanemask_gt", OfLane::mask_gt}, {"%lanemask_ge", OfLane::mask_ge}};
  if (name == "%tid.x") return &thread_index<0>;
  if (name == "%tid.y") return &thread_index<1>;
  if (name == "%tid.z") return &thread_index<2>;
  if (name == "%clock64") return &clock64;
  if (name == "%globaltimer") return &global_timer;
  if (name == "%gridid") return &zero64;
  if (name == "%globaltimer_lo" || name == "%globaltimer_hi") {
    option = name == "%globaltimer_lo" ? 0 : 32;
    return &half_of_timer;
  }
  if (const auto found = kOfLane.find(name); found != kOfLane.end()) {
    option = static_cast<std::uint32_t>(found->second);
    return &of_lane;
  }
  if (const auto found = kUniform.find(name); found != kUniform.end()) {
    option = static_cast<std::uint32_t>(found->second);
    return &uniform;
  }
  return nullptr;
}

std::string purpose_of_register(std::string_view name) {
  static const std::vector<std::pair<std::string_view, std::string>> kPurposes{
      {"%envreg", "grid synchronisation, in cooperative launches"},
      {"%is_explicit_cluster", "clusters of thread blocks"},
      {"%aggr_smem", "shared memory that the driver reserves"},
      {"%reserved_smem", "shared memory that the driver reserves"},
      {"%current_graph_exec", "CUDA graphs launched by kernels"},
      {"%pm", "the hardware's performance counters"}};
  for (const auto& [prefix, purpose] : kPurposes) {
    if (name.starts_with(prefix)) return " (" + purpose + ")";
  }
  return "";
}

}  // namespace hidden

std::vector<OpcodeRow> move_rows() { return {}; }

std::vector<BuiltOpcode> built_move() {
  const std::string space = "shared|shared::cta|local|global|const";
  return {{"mov",
           build_mov,
           {"[v2|v4] b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|b64|u64|s64|f64"}},
          {"cvta", build_cvta, {"[to] u64 " + space}},
          {"isspacep", build_isspacep, {space}}};
}

}  // namespace simgpu
