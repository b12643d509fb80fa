#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/dim3.h"
#include "simgpu/finding.h"

/// What a few warps of a launch did, step by step, as plain values.
namespace simgpu::replay {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;
inline constexpr unsigned kLanes = 32;

/// How the bits of a register are to be shown.
enum class ValueType : std::uint8_t {
  unknown,
  predicate,
  f16,
  f32,
  f64,
  s32,
  u32,
  s64,
  u64,
};
inline constexpr ValueType kLastValueType = ValueType::u64;

/// Values of one register in some lanes of a warp.
struct RegisterValues {
  std::uint32_t reg = 0;  ///< as LoweredKernel::registers numbers them
  ValueType type = ValueType::unknown;
  std::uint32_t lanes = 0;              ///< bit i: lane i has a value
  std::vector<std::uint64_t> values{};  ///< of these lanes, in order
  /// The variable of the source that the value is, in Recording::names; kNone where that is not
  /// certain.
  std::uint32_t name = kNone;
  /// Which step wrote it: RegisterValues of one register may be of several steps, the last one
  /// last.
  std::uint32_t place = kNone;  ///< in Recording::places
  std::uint64_t number = 0;     ///< Step::number
  std::uint32_t loads = 0;      ///< of that step
  /// What that step computed or loaded last of the type. Copies and constants are not it: a
  /// compiler puts those of other variables on any line.
  bool is_last = false;
  /// Of a register that one instruction at the end of a loop changes by its own value, as a loop's
  /// counter: how often it has done so in each of `lanes` since something else set the register,
  /// and what that was. Both are empty where it has not, and for other registers.
  std::vector<std::uint32_t> updates{};
  std::vector<std::uint64_t> first{};
  bool operator==(const RegisterValues&) const = default;
};

/// Where a warp was while its steps were left out.
struct LeftOut {
  std::uint32_t place = kNone;  ///< in Recording::places
  std::uint64_t number = 0;     ///< Step::number of the last step there
  bool operator==(const LeftOut&) const = default;
};

enum class Space : std::uint8_t { shared, global, local };
/// `arrival`: the bytes of an asynchronous copy are there, since its threads have waited for them.
enum class Action : std::uint8_t { load, store, atomic, copy, arrival };
inline constexpr Space kLastSpace = Space::local;
inline constexpr Action kLastAction = Action::arrival;
constexpr bool changes_memory(Action action) {
  return action == Action::store || action == Action::atomic || action == Action::arrival;
}

/// What one instruction accessed.
struct Access {
  Space space = Space::shared;
  Action action = Action::load;
  std::uint8_t bytes = 0;  ///< per lane
  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;
  /// Of these lanes, in order: in shared and local memory from its beginning, in global memory from
  /// the beginning of the allocation.
  std::vector<std::uint64_t> addresses{};
  std::uint32_t allocation = kNone;  ///< in Recording::allocations, of the first lane
  bool operator==(const Access&) const = default;
};

/// Bytes of shared memory that a warp has stored.
struct SharedBytes {
  std::uint32_t first = 0;
  std::vector<std::uint8_t> bytes{};
  std::uint32_t warp = kNone;   ///< who stored them; kNone: nobody in the block
  std::uint32_t place = kNone;  ///< in Recording::places
  bool operator==(const SharedBytes&) const = default;
};

/// Where in the source instructions are.
struct Place {
  std::uint32_t file = 0;  ///< in Recording::files
  std::uint32_t line = 0;
  /// The calls by which the place was inlined into the kernel, the innermost first.
  std::vector<InlinedCall> inlined_at{};
  bool operator==(const Place&) const = default;
};

/// Instructions of one warp that came one after the other and are of one source line, with the same
/// lanes: one step forwards.
struct Step {
  std::uint32_t warp = 0;       ///< in Recording::warps
  std::uint64_t number = 0;     ///< among the steps of the warp since its block began, from 0
  std::uint32_t place = kNone;  ///< in Recording::places
  std::uint32_t active = 0;     ///< lanes that executed some of it
  std::uint32_t exited = 0;     ///< lanes that have returned from the kernel, or never existed
  std::uint32_t interval = 0;   ///< barriers that the block has passed
  std::uint32_t instructions = 0;
  bool is_barrier = false;                  ///< its last instruction is a barrier
  std::vector<RegisterValues> before{};     ///< what steps that were left out before it had written
  std::vector<LeftOut> left_out{};          ///< these steps
  std::vector<SharedBytes> others{};        ///< stored meanwhile, by other warps or such steps
  std::vector<RegisterValues> registers{};  ///< what it wrote
  std::vector<SharedBytes> shared{};        ///< likewise
  std::vector<Access> accesses{};           ///< in order
  std::vector<std::uint32_t>
      unknown_now{};  ///< Recording::names whose values nobody knows behind it
  bool operator==(const Step&) const = default;
};

/// A warp that was recorded.
struct RecordedWarp {
  std::uint32_t block = 0;                  ///< in Recording::blocks
  std::uint32_t warp = 0;                   ///< within the block
  std::vector<RegisterValues> registers{};  ///< as the first step finds them
  std::vector<LeftOut> left_out{};          ///< steps before it
  bool operator==(const RecordedWarp&) const = default;
};

/// A block of which a warp was recorded.
struct RecordedBlock {
  Dim3 index{0, 0, 0};
  std::uint32_t launch = 0;  ///< in the recording: Recording::launch()
  std::vector<SharedBytes>
      shared{};  ///< as the first step finds it; what nobody stored is left out
  bool operator==(const RecordedBlock&) const = default;
};

struct SharedArray {
  std::string name{};
  std::uint32_t offset = 0, bytes = 0;
  std::string element{};                 ///< its type in the source, "float"; empty: unknown
  std::vector<std::uint32_t> extents{};  ///< of its dimensions, outermost first; empty: unknown
  bool operator==(const SharedArray&) const = default;
};

struct RecordedAllocation {
  std::uint64_t address = 0, bytes = 0;
  std::string label{};
  bool operator==(const RecordedAllocation&) const = default;
};

struct Parameter {
  std::string name{};  ///< empty: unknown
  std::string type{};  ///< as in the source; empty: unknown
  std::vector<std::uint8_t> bytes{};
  bool operator==(const Parameter&) const = default;
};

/// An access of the finding, or the instruction at which it was made.
struct Mark {
  std::uint32_t step = 0;  ///< in Recording::steps
  std::uint32_t lane = 0;
  std::uint32_t access = kNone;  ///< in Step::accesses; kNone: it is none
  bool operator==(const Mark&) const = default;
};

/// A launch of which warps were recorded.
struct RecordedLaunch {
  std::string kernel{};  ///< demangled
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  std::vector<Parameter> parameters{};
  std::vector<SharedArray> arrays{};
  bool operator==(const RecordedLaunch&) const = default;
};

/// Steps of some warps of one launch, in the order in which the simulator executed them; or of two
/// launches that race, the earlier one first.
struct Recording : RecordedLaunch {
  std::vector<RecordedLaunch> more{};  ///< launches beside the first one
  std::vector<RecordedAllocation> allocations{};
  std::vector<std::string> files{};
  std::vector<Place> places{};
  std::vector<std::string> names{};  ///< of variables
  std::vector<RecordedBlock> blocks{};
  std::vector<RecordedWarp> warps{};
  std::vector<Step> steps{};
  std::vector<Mark> marks{};  ///< the earlier access of a race first
  bool begins_late = false;   ///< earlier steps of a warp were forgotten
  bool ends_early = false;    ///< its warps have gone on
  bool operator==(const Recording&) const = default;

  std::uint32_t launches() const { return 1 + static_cast<std::uint32_t>(more.size()); }
  RecordedLaunch& launch(std::uint32_t number) { return number == 0 ? *this : more.at(number - 1); }
  const RecordedLaunch& launch(std::uint32_t number) const {
    return number == 0 ? *this : more.at(number - 1);
  }
  std::uint32_t launch_of_warp(std::uint32_t warp) const {
    return blocks.at(warps.at(warp).block).launch;
  }
};

/// What is to be recorded of the launches of a program.
struct Wanted {
  enum class Kind : std::uint8_t {
    first_block,      ///< the first warp of the first block of the first launch
    finding,          ///< the warps of a finding, up to it
    last_store,       ///< nothing: who stored last to some bytes is looked for
    store,            ///< the warp that last_store has found, up to that store
    racing_launches,  ///< nothing: who touches a byte in two launches is looked for
    racing_warps,     ///< the warps that racing_launches has found, up to these accesses
  };
  /// An access to the bytes.
  struct Touch {
    std::uint64_t launch = 0;  ///< among all, from 1; 0: none
    std::uint64_t block = 0;
    std::uint32_t warp = 0;
    std::uint64_t number = 0;  ///< how many such accesses of the launch came before it
    bool operator==(const Touch&) const = default;
  };
  Kind kind = Kind::first_block;
  AccessSite where{};                    ///< of a finding
  std::optional<AccessSite> other{};     ///< likewise
  std::uint64_t address = 0, bytes = 0;  ///< of a store, in global memory
  /// Of `store`: in which launch, by whom, and how many stores to these bytes came before it.
  std::uint64_t launch = 0, block = 0;
  std::uint32_t warp = 0;
  std::uint64_t number = 0;
  /// Of two launches that race: what `where` and `other` do; of racing_launches their launch alone.
  Touch later{}, earlier{};
};
inline constexpr Wanted::Kind kLastKind = Wanted::Kind::racing_warps;

/// What came of it.
struct Recorded {
  std::optional<Recording> recording;  ///< nothing where what was wanted has not happened
  std::optional<Wanted> next;          ///< of last_store and racing_launches: what to ask for then
};

}  // namespace simgpu::replay
