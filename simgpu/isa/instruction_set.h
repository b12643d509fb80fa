#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/isa/cost.h"
#include "simgpu/isa/lowered.h"

/// The instructions that there are: what lowering asks for by its spelling, and what the engine
/// puts there. One opcode is one row and one small function.
namespace simgpu {

class KernelBuilder;  // of simgpu/lower, which an opcode that builds itself calls

/// A handler with the operand kinds it expects: destinations, ':', sources ("f:fff", "p:ii"; see
/// KernelBuilder::source for the letters).
struct Implementation {
  Handler handler = nullptr;
  std::string_view signature;
};

/// An opcode whose operands are plain registers and literals. `spelling` may hold optional parts in
/// brackets and alternatives in braces: "add[.rn].f32", "and.{b16|u16}".
struct OpcodeRow {
  std::string spelling;
  Implementation implementation;
  Cost cost;
};

/// The modifiers of one form of an opcode: groups of alternatives, those in brackets optional. As
/// for the assembler, their order does not matter: "sync up|down b32" is .sync.up.b32 and
/// .up.sync.b32.
class ModifierForm {
 public:
  ModifierForm(std::string_view text);  // NOLINT: a text is a form
  ModifierForm(const std::string& text) : ModifierForm(std::string_view(text)) {}  // NOLINT
  ModifierForm(const char* text) : ModifierForm(std::string_view(text)) {}         // NOLINT

  /// Whether each modifier belongs to a group of its own, and no group lacks one that needs one.
  bool fits(const std::vector<std::string>& modifiers) const;

 private:
  struct Group {
    std::vector<std::string> names;
    bool is_optional = false;
  };
  std::vector<Group> groups_;
};

/// An opcode that builds itself from its modifiers and operands (loads, branches, conversions …).
/// One without forms takes no modifiers.
struct BuiltOpcode {
  std::string root;
  void (*emit)(KernelBuilder&);
  std::vector<ModifierForm> forms = {};

  bool has_form(const std::vector<std::string>& modifiers) const;
};

/// What one file of opcodes has.
struct OpcodeFile {
  std::vector<OpcodeRow> rows = {};
  std::vector<BuiltOpcode> built = {};
};

/// Handlers that lowering itself needs.
struct Primitives {
  Handler jump;             ///< falls into the next basic block: target
  Handler branch;           ///< conditional branch on Lowered::guard
  Handler exit;             ///< ends the lanes of the mask
  Handler guarded;          ///< runs Lowered::guarded for the lanes of the guard
  Handler saturate;         ///< 64-bit address to 32 bits, too large ones to all ones
  Handler widen;            ///< 32-bit to 64-bit, zero-extended
  Handler not_predicate;    ///< dst = !a
  Handler frame_address32;  ///< dst = a + immediate
  Handler frame_address64;  ///< the same, zero-extended
  Handler element_address;  ///< dst = a + 32 bits of (b + c) * d; a and dst have 64
  Handler part_by_target;   ///< before a call: lanes of different targets in a part
  Handler call;             ///< calls an out-of-line function: option is the CallSite
  Handler leave;            ///< returns from it
  Handler refuse;           ///< ends the launch: option is the index of the refusal
  /// A load from .param memory, or a store to it; nullptr for sizes that it does not have.
  Handler (*frame_access)(bool stores, unsigned bytes);
  Handler (*special_register)(std::string_view name, std::uint32_t& option);  ///< or nullptr
  /// " (grid synchronisation)": what an unknown register is for; nothing when that is unknown too.
  std::string (*purpose_of_register)(std::string_view name);
};

/// All opcodes, by spelling.
class InstructionSet {
 public:
  /// @throws std::logic_error when two rows have the same spelling
  InstructionSet(const std::vector<OpcodeFile>& files, std::span<const SequenceRow> sequences,
                 const Primitives& primitives);

  /// As for the assembler, the order of modifiers does not matter but for that of types:
  /// div.ftz.rn.f32 is div.rn.ftz.f32.
  const OpcodeRow* find_row(const std::string& spelling) const;
  const BuiltOpcode* find_built(const std::string& root) const;
  const Primitives& primitives() const { return primitives_; }
  /// Every spelling that has a row, sorted: what the opcode test must cover.
  std::vector<std::string> spellings() const;
  /// Every opcode that builds itself, sorted: likewise.
  std::vector<std::string> built_roots() const;

 private:
  Primitives primitives_;
  std::vector<OpcodeRow> rows_;
  std::map<std::string, std::size_t> by_spelling_;
  std::map<std::string, std::size_t> in_order_;  ///< by spelling, with the modifiers in order
  std::map<std::string, BuiltOpcode> built_;
};

}  // namespace simgpu
