#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/exec/simt_stack.h"

namespace simgpu {

struct Warp;

/// The calls that the active lanes of a warp are in, and what their callers need to go on: which of
/// the caller's lanes wait where, and the registers that the function may overwrite. All lanes of a
/// call leave the function together, so that calls end in the order opposite to that in which they
/// began.
class CallStack {
 public:
  /// Where an instruction may find its function's frame, and where to go on.
  struct Return {
    const Lowered* call = nullptr;
    std::uint32_t stack_pointer = 0;  ///< the caller's
    bool operator==(const Return&) const = default;
  };

  bool empty() const { return frames_.empty(); }
  void clear();
  /// Whether all calls are where they were in `other`, and their callers find what they found then.
  bool operator==(const CallStack&) const = default;

  /// The active lanes enter a function: keeps the warp's SIMT stack and the registers `saved`.
  void push(const Warp& warp, const Return& caller, const std::vector<SlotRange>& saved);
  /// The last call, which pop() and drop() end.
  const Return& last() const { return frames_.back().caller; }
  /// Its lanes come back: the caller's SIMT stack, without lanes that have exited, and its
  /// registers `saved` in the lanes of warp.mask.
  void pop(Warp& warp, const std::vector<SlotRange>& saved);
  /// All of its lanes have exited.
  void drop(Warp& warp);

  // Lanes that wait in a caller while others are in the function it called.

  /// Lanes in any of the callers; those of the running function are among them.
  std::uint32_t lanes() const;
  /// The instructions at which lanes go on in the callers.
  std::vector<std::uint32_t> places() const;
  /// Only `lanes` stay, each where it is.
  void keep_lanes(std::uint32_t lanes);
  /// The innermost caller in which some of `lanes` wait, and those: its stack and its own calls.
  struct Waiting {
    SimtStack stack;
    std::size_t depth = 0;  ///< calls that the caller itself is in
    std::uint32_t lanes = 0;
  };
  Waiting find_waiting(std::uint32_t lanes) const;
  /// Only the first `depth` calls, as those see it that wait in the caller above them.
  void truncate(std::size_t depth);

 private:
  struct Frame {
    Return caller;
    std::size_t entries = 0;    ///< length of entries_ before the call
    std::size_t registers = 0;  ///< of registers_, likewise
    bool operator==(const Frame&) const = default;
  };
  std::span<const SimtStack::Entry> entries_of(std::size_t frame) const;
  std::vector<Frame> frames_;
  std::vector<SimtStack::Entry> entries_;
  std::vector<std::byte> registers_;
};

}  // namespace simgpu
