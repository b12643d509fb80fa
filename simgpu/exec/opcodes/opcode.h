#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/lower/builder.h"

/// The opcode tables: one opcode is one row and one small function.
namespace simgpu {

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

  /// @throws Unsupported when the modifiers are of none of the forms, or when there is no code for
  /// the operands.
  void build(KernelBuilder& builder) const;
};

std::vector<OpcodeRow> integer_rows();
std::vector<OpcodeRow> float_rows();
std::vector<OpcodeRow> half_rows();
std::vector<OpcodeRow> logic_rows();
std::vector<OpcodeRow> compare_rows();
std::vector<OpcodeRow> convert_rows();
std::vector<OpcodeRow> move_rows();
std::vector<OpcodeRow> fp8_rows();
std::vector<OpcodeRow> packed_integer_rows();
std::vector<BuiltOpcode> built_integer();
std::vector<BuiltOpcode> built_video();
std::vector<BuiltOpcode> built_compare();
std::vector<BuiltOpcode> built_convert();
std::vector<BuiltOpcode> built_move();
std::vector<BuiltOpcode> built_memory();
std::vector<BuiltOpcode> built_atomic();
std::vector<BuiltOpcode> built_control();
std::vector<BuiltOpcode> built_warp();
std::vector<BuiltOpcode> built_tensor();
std::vector<BuiltOpcode> built_matrix_memory();
std::vector<BuiltOpcode> built_async_copy();
std::vector<BuiltOpcode> built_cache_hints();
std::vector<BuiltOpcode> built_texture();
std::vector<BuiltOpcode> built_mbarrier();
std::vector<BuiltOpcode> built_stack();

/// What atom and red do, type included: "add.u32", "add.noftz.f16x2".
std::vector<std::string> atomic_operations();

/// By lane: the lane that it reads from in a shuffle, itself where that lies outside of its
/// segment.
std::array<std::uint32_t, kWarpSize> sources_of_shuffle(const Lowered* in, Warp& warp,
                                                        std::string_view spelling);

/// Handlers that lowering itself needs.
namespace hidden {
extern const Handler kJump;          ///< falls into the next basic block: target
extern const Handler kBranch;        ///< conditional branch on Lowered::guard
extern const Handler kBranchAlways;  ///< jump that the program has
extern const Handler kExit;          ///< ends the lanes of the mask
extern const Handler kGuarded;       ///< runs Lowered::guarded for the lanes of the guard
extern const Handler kSaturate;      ///< 64-bit address to 32 bits, too large ones to all ones
extern const Handler kWiden;         ///< 32-bit to 64-bit, zero-extended
extern const Handler kNotPredicate;  ///< dst = !a
extern const Handler kFrameAddress32, kFrameAddress64;  ///< dst = a + immediate, zero-extended
extern const Handler kElementAddress;  ///< dst = a + 32 bits of (b + c) * d; a and dst have 64
extern const Handler kPartByTarget;    ///< before a kCall: lanes of different targets in a part
extern const Handler kCall;            ///< calls an out-of-line function: option is the CallSite
extern const Handler kLeave;           ///< returns from it
extern const Handler kPoll;            ///< after a load that may wait for others: see poll()
extern const Handler kAsk;             ///< after an atomic that returns what was there: see ask()
extern const Handler kRefuse;          ///< ends the launch: option is the index of the refusal
/// A load from .param memory, or a store to it; nullptr for sizes that it does not have.
Handler frame_access(bool stores, unsigned bytes);
Handler special_register(std::string_view name, std::uint32_t& option);  ///< nullptr when unknown
/// " (grid synchronisation)": what an unknown register is for; nothing when that is unknown too.
std::string purpose_of_register(std::string_view name);
}  // namespace hidden

/// All tables, by spelling.
class OpcodeTable {
 public:
  OpcodeTable();
  static const OpcodeTable& instance();

  /// As for the assembler, the order of modifiers does not matter but for that of types:
  /// div.ftz.rn.f32 is div.rn.ftz.f32.
  const OpcodeRow* find_row(const std::string& spelling) const;
  const BuiltOpcode* find_built(const std::string& root) const;
  /// Every spelling that has a row, sorted: what the opcode test must cover.
  std::vector<std::string> spellings() const;
  /// Every opcode that builds itself, sorted: likewise.
  std::vector<std::string> built_roots() const;

 private:
  std::vector<OpcodeRow> rows_;
  std::map<std::string, std::size_t> by_spelling_;
  std::map<std::string, std::size_t> in_order_;  ///< by spelling, with the modifiers in order
  std::map<std::string, BuiltOpcode> built_;
};

}  // namespace simgpu
