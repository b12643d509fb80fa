#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// PTX as written: what the parser makes of a module, before any meaning is given to an opcode.
/// Follows NVIDIA's "Parallel Thread Execution ISA"; section names in comments refer to it.
namespace simgpu::ptx {

/// Fundamental types of an operand, variable or modifier ("Types", PTX ISA).
enum class Type : std::uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  pred,
};

/// Bytes of one element; pred counts as 1, f16x2 and bf16x2 as 4, b128 as 16, none as 0.
unsigned size_of(Type type);
std::string_view name_of(Type type);

/// State spaces ("State Spaces", PTX ISA). `generic` is the absence of one on an address.
enum class Space : std::uint8_t { generic, reg, sreg, constant, global, local, param, shared };

/// A line of the program's own source, from .loc; `inlined_at` chains to the place of the inlined
/// call.
struct SourceLocation {
  std::uint32_t file = 0;  ///< index into Module::files, 0 when unknown
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function;          ///< the inlined function's name, if .loc gave one
  std::int32_t inlined_at = -1;  ///< index into Function::locations, -1 for none
};

/// Index into Function::registers
struct RegisterRef {
  std::uint32_t index = 0;
};
/// Variable, function or parameter, plus bytes
struct Symbol {
  std::string name;
  std::int64_t offset = 0;
};
/// The bits; unsigned literals too
struct IntegerLiteral {
  std::int64_t value = 0;
};
/// 0f…, 0d… or decimal; 0f is widened exactly
struct FloatLiteral {
  double value = 0;
};
/// "%tid.x", "%laneid", "%clock64" …
struct SpecialRegister {
  std::string name;
};
/// "_"
struct Sink {};
/// Index into Function::body
struct LabelRef {
  std::uint32_t target = 0;
};

/// A scalar operand: what can stand in a vector's element or in an address's base.
using Scalar = std::variant<RegisterRef, Symbol, IntegerLiteral, FloatLiteral, SpecialRegister,
                            Sink, LabelRef>;

/// One operand of an instruction, in the order written.
struct Operand {
  enum class Kind : std::uint8_t {
    scalar,   ///< elements[0]
    vector,   ///< {a, b, …}: elements
    address,  ///< [base+offset]: elements[0] + offset; further elements for [a, {x, y}] forms
    pair,     ///< a|p or {a, b}|p, a destination with a predicate: the last element
    list,     ///< (a, b, …) of a call
    element,  ///< array[index] as a value: its address; see `scale`
  };
  Kind kind = Kind::scalar;
  std::vector<Scalar> elements;
  std::int64_t offset = 0;  ///< added to an address's base, or to a scalar that is a register
  /// Not 0 for array[register+offset], of kind address or element: elements are the array and the
  /// register, both they and `offset` count array elements, and this is the bytes of one (of a
  /// scalar, in an array of vectors).
  std::uint32_t scale = 0;
  bool negated = false;       ///< !p for predicates, -x for a literal-free negation
  std::int8_t selector = -1;  ///< 0–3: .b0–.b3; 4, 5: .h0, .h1; 127: several; -1: none
  std::uint32_t parts = 0;    ///< of several, as hexadecimal digits: 0x7654 for .b7654
  std::uint8_t part_count = 0;
};

/// @p or @!p before an instruction.
struct Guard {
  std::uint32_t reg = 0;
  bool negated = false;
};

struct Instruction {
  std::optional<Guard> guard;
  std::string opcode;                  ///< the root, "ld", "fma", "mma"
  std::vector<std::string> modifiers;  ///< without dots, in order: {"shared", "v4", "f32"}
  std::vector<Operand> operands;
  std::uint32_t location = 0;  ///< index into Function::locations; entry 0 is "unknown"
  std::uint32_t ptx_line = 0;  ///< 1-based line in the PTX text
  std::uint32_t number = 0;    ///< of those of the text, from 0

  bool has(std::string_view modifier) const;
  /// "ld.shared.v4.f32", for messages.
  std::string spelling() const;
};

/// Unique name: nested scopes are renamed
struct Register {
  std::string name;
  Type type = Type::none;
};

/// Bytes of an initialiser that hold an address: generic(sym)+offset or sym+offset, 4 or 8 bytes
/// wide, or a single byte of it.
struct Relocation {
  std::uint64_t byte_offset = 0;
  unsigned width = 8;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;
  /// The value stored is address >> shift; not 0 only for width 1, as in 0xFF00(sym)
  unsigned shift = 0;
};

struct Variable {
  enum class Linkage : std::uint8_t { internal, visible, external, weak, common };
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;
  unsigned vector = 1;                    ///< .v2/.v4 element count
  std::vector<std::uint64_t> dimensions;  ///< [] of an extern array is a single 0
  unsigned alignment = 1;
  Linkage linkage = Linkage::internal;
  bool managed = false;                     ///< .attribute(.managed)
  std::vector<std::uint8_t> initial_bytes;  ///< from the start; what lies beyond is zero
  std::vector<Relocation> relocations;
  std::uint64_t size() const;  ///< bytes
};

/// What a call through a register passes, from .callprototype or from .func.
struct Prototype {
  std::vector<Variable> parameters;
  std::vector<Variable> return_values;
};

/// .reqntid, zeros when absent
struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  ///< extern or prototype: no body
  /// .param (or .reg) in order; opaque and by-value structs as b8[n]
  std::vector<Variable> parameters;
  std::vector<Variable> return_values;
  std::vector<Register> registers;  ///< those that the body uses, by first use
  std::vector<Variable> variables;  ///< .local, .shared and .param variables declared in the body
  std::vector<SourceLocation> locations;  ///< [0] is "unknown"
  /// Labels are resolved to indexes; an index may equal body.size()
  std::vector<Instruction> body;
  /// brx.idx and call targets: name -> labels (indexes) or function names.
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> branch_targets;
  std::vector<std::pair<std::string, std::vector<std::string>>> call_targets;
  /// .callprototype: name -> what a call that names it passes
  std::vector<std::pair<std::string, Prototype>> call_prototypes;
  std::array<std::uint32_t, 3> required_threads{};
  std::array<std::uint32_t, 3> max_threads{};  ///< .maxntid
  std::uint32_t min_blocks_per_sm = 0;         ///< .minnctapersm
  std::uint64_t cluster_blocks = 1;            ///< of .reqnctapercluster, all axes together
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;  ///< "sm_80"
  unsigned address_size = 64;
  std::vector<std::string> files;   ///< by .file number; [0] is ""
  std::vector<Variable> variables;  ///< .global, .const and module-scope .shared
  std::vector<Function> functions;
  const Function* find_function(std::string_view name) const;
};

}  // namespace simgpu::ptx
