#include <algorithm>
#include <array>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lane_groups.h"
#include "simgpu/exec/opcodes/opcode.h"

/// Exchanges between the lanes of a warp: shfl, vote, match, activemask, redux, elect.
namespace simgpu {
namespace {

constexpr Cost kExchange{.cls = InstructionClass::warp_exchange};
/// 64 lanes a cycle vote, and 16 reduce (CUDA C++ Programming Guide, "Arithmetic Instructions").
constexpr Cost kVote{.cls = InstructionClass::warp_exchange,
                     .sequence = {.integer = 1, .chained_simple = 2}};
constexpr Cost kReduce{.cls = InstructionClass::warp_exchange,
                       .sequence = {.exchange = 2, .chained_special = 2}};

/// Sets the bits of the lanes of a group, and keeps the others'.
void write_group(Warp& warp, std::uint32_t offset, std::uint32_t group, bool value) {
  std::uint32_t& p = predicate(warp, offset);
  p = (p & ~group) | (value ? group : 0U);
}

// shfl ("shfl.sync", PTX ISA): c holds the clamp and segment mask.

enum class Shuffle { up, down, bfly, idx };

/// The lane that each lane reads from, its own one where the source lies outside its segment.
struct ShuffleSources {
  std::array<std::uint32_t, kWarpSize> lane;
  std::array<std::uint32_t, kWarpSize> valid;  ///< 1 or 0
};

/// Of all lanes, executing or not, and without branches: the compiler makes vectors of it.
template <Shuffle kMode>
ShuffleSources shuffle_sources(const Word32* b, const Word32* c) {
  ShuffleSources sources;
  for (int own = 0; own < static_cast<int>(kWarpSize); ++own) {
    const int distance = static_cast<int>(b[own] & 31U);
    const int clamp = static_cast<int>(c[own] & 31U);
    const int segment = static_cast<int>(c[own] >> 8 & 31U);
    const int most = (own & segment) | (clamp & ~segment);
    const int least = own & segment;
    const int from = kMode == Shuffle::up     ? own - distance
                     : kMode == Shuffle::down ? own + distance
                     : kMode == Shuffle::bfly ? own ^ distance
                                              : least | (distance & ~segment);
    const bool valid = kMode == Shuffle::up ? from >= most : from <= most;
    sources.lane[own] = static_cast<std::uint32_t>(valid ? from : own) & 31U;
    sources.valid[own] = valid ? 1 : 0;
  }
  return sources;
}

/// Tells of lanes that ask one that does not take part, and has no value to give. Only of those
/// that name it: a reduction by up, down or bfly reads beyond its lanes too, and ignores the
/// result.
void check_sources(const Lowered* in, Warp& warp, const ShuffleSources& from, std::uint32_t group,
                   std::uint32_t members) {
  each_lane(group, [&](unsigned lane) {
    if ((members >> from.lane[lane] & 1U) != 0) return;
    warp.block->checkers->absent_source(warp.index, in->index, static_cast<std::uint8_t>(lane),
                                        static_cast<std::uint8_t>(from.lane[lane]));
  });
}

/// The executing lanes that read from a lane which has returned from the kernel, or never was.
std::uint32_t absent_sources(const Warp& warp, const ShuffleSources& from) {
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    lanes |= (warp.dead >> from.lane[lane] & 1U) << lane;
  }
  return lanes & warp.mask;
}

/// `lanes` got undefined values, which is told if they are used.
const Lowered* take_from_absent(const Lowered* in, Warp& warp, const ShuffleSources& from,
                                std::uint32_t lanes) {
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  const std::uint32_t source = from.lane[lane];
  const bool existed = (warp.existed >> source & 1U) != 0;
  RawFinding finding;
  finding.code = "RL0305";
  finding.lane_fault = existed ? LaneFault::exited_source : LaneFault::no_source;
  finding.pc = in->index;
  finding.block = finding.other_block = warp.block->position.block();
  finding.warp = finding.other_warp = warp.index;
  finding.lane = static_cast<std::uint8_t>(lane);
  finding.address = source;
  finding.has_other = existed;
  finding.other_lane = static_cast<std::uint8_t>(source);
  finding.other_pc = warp.block->departures.of(warp, source);
  return warp.block->undefined.follow(in, warp, lanes, finding);
}

/// a: value, b: lane or distance, c: clamp, d: named lanes; dst2: whether the source was in range.
template <Shuffle kMode>
const Lowered* shuffle(const Lowered* in, Warp& warp) {
  const ShuffleSources from = shuffle_sources<kMode>(words(warp, in->b), words(warp, in->c));
  each_lane_group(in, warp, in->d, [&](std::uint32_t group, std::uint32_t members) {
    const bool names_sources = kMode == Shuffle::idx && warp.block->checkers != nullptr;
    if (names_sources && members != ~0U) check_sources(in, warp, from, group, members);
  });
  const std::uint32_t from_absent =
      warp.block->checkers != nullptr && warp.mask != ~0U ? absent_sources(warp, from) : 0;
  const Word32* const values = words(warp, in->a);
  std::array<Word32, kWarpSize> taken;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) taken[lane] = values[from.lane[lane]];
  blend(words(warp, in->dst), taken.data(), warp.mask);
  if (in->option != 0) {
    std::uint32_t valid = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) valid |= from.valid[lane] << lane;
    write_predicate(warp, in->dst2, valid);
  }
  return from_absent == 0 ? in + 1 : take_from_absent(in, warp, from, from_absent);
}

void build_shuffle(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const Handler run = instruction.has("up")     ? &shuffle<Shuffle::up>
                      : instruction.has("down") ? &shuffle<Shuffle::down>
                      : instruction.has("bfly") ? &shuffle<Shuffle::bfly>
                                                : &shuffle<Shuffle::idx>;
  if (builder.operand_count() != 5) builder.refuse(instruction.spelling());
  const auto& results = instruction.operands[0].elements;
  const Ref a = builder.source(std::size_t{1}, 'i');
  const Ref b = builder.source(std::size_t{2}, 'i');
  const Ref c = builder.source(std::size_t{3}, 'i');
  const Ref d = builder.source(std::size_t{4}, 'i');
  const Ref dst = builder.destination(results.at(0), 'i');
  const Ref valid = results.size() > 1 ? builder.destination(results[1], 'p') : Ref{};
  Pending& pending = builder.emit(run, kExchange);
  pending.a = a;
  pending.b = b;
  pending.c = c;
  pending.d = d;
  pending.dst = dst;
  pending.dst2 = valid;
  pending.option = results.size() > 1 ? 1 : 0;
}

// vote: a is the predicate, b the named lanes.

enum class Vote : std::uint32_t { all, any, uni, ballot };

const Lowered* vote(const Lowered* in, Warp& warp) {
  const std::uint32_t cast = predicate(warp, in->a);
  each_lane_group(in, warp, in->b, [&](std::uint32_t group, std::uint32_t members) {
    const std::uint32_t votes = cast & members;
    switch (static_cast<Vote>(in->option)) {
      case Vote::all:
        write_group(warp, in->dst, group, votes == members);
        break;
      case Vote::any:
        write_group(warp, in->dst, group, votes != 0);
        break;
      case Vote::uni:
        write_group(warp, in->dst, group, votes == members || votes == 0);
        break;
      case Vote::ballot:
        each_lane(group, [&](unsigned lane) { words(warp, in->dst)[lane] = votes; });
        break;
    }
  });
  return in + 1;
}

void build_vote(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const Vote mode = instruction.has("any")      ? Vote::any
                    : instruction.has("uni")    ? Vote::uni
                    : instruction.has("ballot") ? Vote::ballot
                                                : Vote::all;
  if (builder.operand_count() != 3) builder.refuse(instruction.spelling());
  const Ref a = builder.source(std::size_t{1}, 'p');
  const Ref b = builder.source(std::size_t{2}, 'i');
  const Ref dst = builder.destination(std::size_t{0}, mode == Vote::ballot ? 'i' : 'p');
  Pending& pending = builder.emit(&vote, kVote);
  pending.a = a;
  pending.b = b;
  pending.dst = dst;
  pending.option = static_cast<std::uint32_t>(mode);
}

// match: a is the value, b the named lanes.

template <class T>
const Lowered* match_any(const Lowered* in, Warp& warp) {
  std::array<T, kWarpSize> values;
  std::copy_n(slot<T>(warp, in->a), kWarpSize, values.begin());
  each_lane_group(in, warp, in->b, [&](std::uint32_t group, std::uint32_t members) {
    each_lane(group, [&](unsigned lane) {
      std::uint32_t same = 0;
      each_lane(members, [&](unsigned other) {
        same |= static_cast<std::uint32_t>(values[other] == values[lane]) << other;
      });
      words(warp, in->dst)[lane] = same;
    });
  });
  return in + 1;
}

template <class T>
const Lowered* match_all(const Lowered* in, Warp& warp) {
  std::array<T, kWarpSize> values;
  std::copy_n(slot<T>(warp, in->a), kWarpSize, values.begin());
  each_lane_group(in, warp, in->b, [&](std::uint32_t group, std::uint32_t members) {
    const T first = values[__builtin_ctz(members | 0x80000000U)];
    bool same = true;
    each_lane(members, [&](unsigned lane) { same = same && values[lane] == first; });
    each_lane(group, [&](unsigned lane) { words(warp, in->dst)[lane] = same ? members : 0; });
    if (in->option) write_group(warp, in->dst2, group, same);
  });
  return in + 1;
}

void build_match(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool wide = instruction.has("b64");
  const bool any = instruction.has("any");
  if (builder.operand_count() != 3) builder.refuse(instruction.spelling());
  const auto& results = instruction.operands[0].elements;
  if (any && results.size() > 1) builder.refuse(instruction.spelling() + " with a predicate");
  const Ref a = builder.source(std::size_t{1}, wide ? 'l' : 'i');
  const Ref b = builder.source(std::size_t{2}, 'i');
  const Ref dst = builder.destination(results.at(0), 'i');
  const Ref flag = results.size() > 1 ? builder.destination(results[1], 'p') : Ref{};
  Handler handler = wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>;
  if (any) handler = wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>;
  Pending& pending = builder.emit(handler, kExchange);
  pending.a = a;
  pending.b = b;
  pending.dst = dst;
  pending.dst2 = flag;
  pending.option = results.size() > 1 ? 1 : 0;
}

// redux: a is the value, b the named lanes.

template <class T, T (*F)(T, T)>
const Lowered* reduce(const Lowered* in, Warp& warp) {
  std::array<std::uint32_t, kWarpSize> values;
  std::copy_n(words(warp, in->a), kWarpSize, values.begin());
  each_lane_group(in, warp, in->b, [&](std::uint32_t group, std::uint32_t members) {
    T sum = static_cast<T>(values[__builtin_ctz(members | 0x80000000U)]);
    each_lane(members & (members - 1),
              [&](unsigned lane) { sum = F(sum, static_cast<T>(values[lane])); });
    each_lane(group,
              [&](unsigned lane) { words(warp, in->dst)[lane] = static_cast<std::uint32_t>(sum); });
  });
  return in + 1;
}

template <class T>
T add(T a, T b) {
  return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return a > b ? a : b;
}
std::uint32_t all_bits(std::uint32_t a, std::uint32_t b) { return a & b; }
std::uint32_t any_bits(std::uint32_t a, std::uint32_t b) { return a | b; }
std::uint32_t odd_bits(std::uint32_t a, std::uint32_t b) { return a ^ b; }

void build_reduce(KernelBuilder& builder) {
  using U = std::uint32_t;
  using S = std::int32_t;
  static const std::map<std::string, Handler> kHandlers{
      {"redux.sync.add.u32", &reduce<U, &add<U>>},
      {"redux.sync.add.s32", &reduce<S, &add<S>>},
      {"redux.sync.min.u32", &reduce<U, &smaller<U>>},
      {"redux.sync.min.s32", &reduce<S, &smaller<S>>},
      {"redux.sync.max.u32", &reduce<U, &larger<U>>},
      {"redux.sync.max.s32", &reduce<S, &larger<S>>},
      {"redux.sync.and.b32", &reduce<U, &all_bits>},
      {"redux.sync.or.b32", &reduce<U, &any_bits>},
      {"redux.sync.xor.b32", &reduce<U, &odd_bits>}};
  const auto found = kHandlers.find(builder.instruction().spelling());
  if (found == kHandlers.end()) builder.refuse(builder.instruction().spelling());
  const Ref a = builder.source(std::size_t{1}, 'i');
  const Ref b = builder.source(std::size_t{2}, 'i');
  const Ref dst = builder.destination(std::size_t{0}, 'i');
  Pending& pending = builder.emit(found->second, kReduce);
  pending.a = a;
  pending.b = b;
  pending.dst = dst;
}

/// elect.sync: dst is the lowest of the lanes that a names, the predicate dst2 set in it alone.
const Lowered* elect(const Lowered* in, Warp& warp) {
  each_lane_group(in, warp, in->a, [&](std::uint32_t group, std::uint32_t members) {
    const auto leader = static_cast<unsigned>(__builtin_ctz(members));
    each_lane(group, [&](unsigned lane) { words(warp, in->dst)[lane] = leader; });
    std::uint32_t& p = predicate(warp, in->dst2);
    p = (p & ~group) | (group & 1U << leader);
  });
  return in + 1;
}

void build_elect(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (builder.operand_count() != 2 || builder.width(0) != 2) builder.refuse(instruction.spelling());
  const auto& results = instruction.operands[0].elements;
  const Ref named = builder.source(std::size_t{1}, 'i');
  const Ref leader = builder.destination(results[0], 'i');
  const Ref is_leader = builder.destination(results[1], 'p');
  Pending& pending = builder.emit(&elect, kExchange);
  pending.a = named;
  pending.dst = leader;
  pending.dst2 = is_leader;
}

const Lowered* active_mask(const Lowered* in, Warp& warp) {
  each_lane(warp.mask, [&](unsigned lane) { words(warp, in->dst)[lane] = warp.mask; });
  return in + 1;
}

void build_active_mask(KernelBuilder& builder) {
  const Ref dst = builder.destination(std::size_t{0}, 'i');
  builder.emit(&active_mask, kVote).dst = dst;
}

}  // namespace

std::array<std::uint32_t, kWarpSize> sources_of_shuffle(const Lowered* in, const Warp& warp,
                                                        std::string_view spelling) {
  const auto has = [&](std::string_view part) { return spelling.find(part) != spelling.npos; };
  using Sources = ShuffleSources (*)(const Word32*, const Word32*);
  Sources sources = &shuffle_sources<Shuffle::idx>;
  if (has(".up")) sources = &shuffle_sources<Shuffle::up>;
  if (has(".down")) sources = &shuffle_sources<Shuffle::down>;
  if (has(".bfly")) sources = &shuffle_sources<Shuffle::bfly>;
  return sources(slot<Word32>(warp, in->b), slot<Word32>(warp, in->c)).lane;
}

OpcodeFile warp_opcodes() {
  return {.built = {{"shfl", build_shuffle, {"sync up|down|bfly|idx b32"}},
                    {"vote", build_vote, {"sync all|any|uni pred", "sync ballot b32"}},
                    {"match", build_match, {"sync any|all b32|b64"}},
                    {"redux", build_reduce, {"sync add|min|max u32|s32", "sync and|or|xor b32"}},
                    {"elect", build_elect, {"sync"}},
                    {"activemask", build_active_mask, {"b32"}}}};
}

}  // namespace simgpu
