#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/codes/code.h"
#include "simgpu/dim3.h"

namespace simgpu {

/// A call that was inlined: what was called, from where.
struct InlinedCall {
  std::string function;  ///< its name, without parameters; empty when unknown
  std::string file{};
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const InlinedCall&) const = default;
};

/// A warp's number that nobody knows: what checks real GPUs names threads, and not their warps.
inline constexpr std::uint32_t kUnknownWarp = 0xffffffff;

/// A call in host code, as a number that only the program's debug information explains: see
/// simgpu/host_code. It comes from the guest, and may be anything.
struct HostFrame {
  std::uint64_t module = 0;   ///< the first bytes of the module's build ID; 0: it has none
  std::uint64_t address = 0;  ///< as in the module's file
  bool operator==(const HostFrame&) const = default;
};
/// Frames of one call that are kept.
inline constexpr std::size_t kMostHostFrames = 8;

/// One side of a finding: who did what, where in the source.
struct AccessSite {
  std::string file{};  ///< as in the PTX's .file, empty when unknown
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint32_t warp = 0;
  std::string action{};     ///< "writes 4 bytes", "reads 16 bytes", "waits at barrier 0"
  std::uint32_t bytes = 0;  ///< of a thread's access to memory; 0: it is none, or not known
  /// How the kernel came to the place: the call of the function that it is in, the call of the
  /// function that this is in, …; empty for a place in the kernel itself.
  std::vector<InlinedCall> inlined_at{};
  bool by_thread = true;  ///< false: a whole launch or a copy did it; block and thread mean nothing
  /// Of two blocks that race, which thread of the block it was may not be known: thread and warp
  /// are then a guess, which nobody should be told.
  bool knows_thread = true;
  bool writes = false;  ///< a store, rather than a load or an atomic
  /// Of host code, the calls that led to it, innermost first.
  std::vector<HostFrame> called_from{};
  bool operator==(const AccessSite&) const = default;
};

/// Which kind of memory an array lies in.
enum class ArraySpace : std::uint8_t { none, shared, dynamic_shared, local, global };

/// A place within an array, which the texts of a finding have in bytes, for those who know the
/// array's declaration or shape: see simgpu/source/array_elements.h.
struct ArrayPlace {
  ArraySpace space = ArraySpace::none;
  std::string name{};         ///< of the array; empty for memory that has none
  std::string words{};        ///< as they stand in Finding::object and in its message
  std::uint64_t bytes = 0;    ///< of the whole array
  std::int64_t offset = 0;    ///< of the first byte that is touched; may lie outside
  std::uint32_t touched = 0;  ///< bytes of the access; 0: not known
  /// Of global memory: from the thread that is told of to the next one along x and along y, in
  /// bytes; 0: not known.
  std::int64_t step_x = 0, step_y = 0;
  bool operator==(const ArrayPlace&) const = default;
};

/// Another line of the source that a finding leads to.
struct SourceNote {
  std::string file{};
  std::uint32_t line = 0;
  std::string text{};  ///< what is there
  bool operator==(const SourceNote&) const = default;
};

/// What a code leaves open and what helps depends on.
enum class FindingDetail : std::uint8_t {
  none,
  // RL0201, of the place that is touched.
  past_end,         ///< of the nearest allocation
  far_from_memory,  ///< far from any allocation
  // RL0202
  past_dynamic_shared,  ///< of what the launch gives the block
  // RL0204
  tile,  ///< of a matrix for tensor cores
  // RL0304
  lacks_fence,  ///< the atomic that is to order two blocks is there
  // RL0305
  lanes_apart,    ///< lanes of one warp need each other: no barrier of the block
  returned_lane,  ///< a shuffle reads from a lane that has returned from the kernel
  missing_lane,   ///< a shuffle reads from a lane that is no thread of the block
  // RL0312
  lacks_function,  ///< of a library, rather than what a kernel needs
  // Operands of a library's call.
  operand_without_memory,  ///< no allocation is there
  operand_too_long,        ///< its allocation ends before it, or its columns do not lie right
  operand_unwritten,       ///< it is read before all of it has been written
  result_added_to,         ///< likewise, for beta is not 0: it is where the result goes
  // Of a library's call, a copy or a fill.
  beyond_any_memory,  ///< its size is one that nobody means
};
inline constexpr FindingDetail kLastDetail = FindingDetail::beyond_any_memory;
/// A size of so many bytes is more than any GPU has, and comes of a variable without a value.
inline constexpr std::uint64_t kBeyondAnyGpu = std::uint64_t{1} << 38;

/// What sort of work is issued to a stream.
enum class StreamWork : std::uint8_t { kernel, library_call, copy, fill, release };
inline constexpr StreamWork kLastStreamWork = StreamWork::release;

/// Of RL0325: how work of a function and its caller's stand to each other.
struct StreamConflict {
  StreamWork work = StreamWork::kernel;  ///< the function's
  bool on_default_stream = false;        ///< that work; else on a stream of its own
  bool callers_is_default = false;       ///< the caller's stream; else the function is given one
  /// It does not wait for what is before it on the caller's stream; else nothing there waits for
  /// it.
  bool starts_early = false;
  bool operator==(const StreamConflict&) const = default;
};

/// Of a race between work on streams or in graphs: the launches that touch the same memory, counted
/// from 1 since the last mark.
struct RacingLaunches {
  std::uint64_t address = 0;             ///< of the first byte that both touch
  std::uint64_t later = 0, earlier = 0;  ///< `where` and `other`; 0: that is no launch of a kernel
  bool operator==(const RacingLaunches&) const = default;
};

/// Something wrong with the program, told so that it can be understood without the simulator's
/// source. Texts are for people: what code decides by are the other members.
struct Finding {
  Code code{};
  FindingDetail detail = FindingDetail::none;
  std::string kernel{};  ///< demangled name, empty for host-side findings
  AccessSite where{};
  std::optional<AccessSite> other{};  ///< the second access of a race, the allocation's creation …
  std::string object{};   ///< "shared array As", "allocation of 4096 bytes", with the offset in it
  std::string name{};     ///< of that array, allocation or operand, "As"; empty when it has none
  std::string message{};  ///< one sentence, cause first
  std::uint64_t occurrences = 1;  ///< same code and place, counted together
  /// Holds unless threads returned from the kernel before `where`, which only its source tells: see
  /// simgpu/source/early_returns.h. Who has no source has to drop it.
  bool unless_returned = false;
  std::optional<StreamConflict> stream{};    ///< of RL0325 alone
  std::optional<RacingLaunches> launches{};  ///< of RL0315, RL0317 and RL0325
  std::vector<ArrayPlace> places{};          ///< that `object` and `message` name in bytes
  std::vector<SourceNote> also{};            ///< other lines that belong to it
  bool returns_early = false;  ///< of RL0305: a `return` keeps threads away, as the source tells

  /// @throws std::bad_optional_access of a code that no device tells
  FindingKind kind() const { return code.kind().value(); }
  bool operator==(const Finding&) const = default;
};

}  // namespace simgpu
