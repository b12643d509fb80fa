#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu::model {

/// To which instructions the time of a warp goes as it is followed: of straight code either to all
/// of them, by the cycles that each takes to issue, or to those that the last one waits for, one
/// after the other.
class WaitTrace {
 public:
  /// An instruction that was started, and what it has waited for.
  using Node = std::uint32_t;
  static constexpr Node kNone = ~0U;

  explicit WaitTrace(std::size_t instructions) : instructions_(instructions) {}

  /// Straight code begins: what is told from now on belongs to it.
  void begin_code();
  /// @param awaited the instruction for whose result it had to wait; kNone: for none
  Node start(std::size_t instruction, double time, Node awaited);
  /// The cycles that an instruction takes to issue, in the mean.
  Node issue(Node node, double cycles);

  /// All instructions since the code began share the cycles.
  void charge_issue(double cycles);
  /// So do those on the way to `last` that were under way between these times, by how long each
  /// was.
  void charge_chain(Node last, double from, double to, double cycles);
  void charge(Node node, double cycles);

  /// How many charges there were so far.
  std::size_t charges() const { return charges_.size(); }
  struct Charge {
    std::uint32_t instruction;
    double cycles;
  };
  /// What was charged since then, instruction by instruction.
  std::vector<Charge> since(std::size_t charges) const;
  /// Charges cycles in the same proportion.
  void charge_like(const std::vector<Charge>& charges, double cycles);
  /// What was charged since takes `cycles` more, of which there were so many before.
  void stretch(std::size_t since, double before, double cycles);

  /// Cycles of each instruction.
  std::vector<double> by_instruction() const;

 private:
  struct Started {
    std::uint32_t instruction;
    Node awaited;
    double time;
    double issue;  // cycles
  };

  const std::size_t instructions_;
  std::vector<Started> started_;
  std::vector<Charge> charges_;
  std::size_t code_ = 0;  ///< the first that was started since the code began
};

}  // namespace simgpu::model
