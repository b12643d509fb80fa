#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// Kernels made at random, and what each of their threads has to compute.
namespace simgpu::random_programs {

/// 'r': 32-bit integer, 'd': 64-bit integer, 'f': float, 'g': double, 'p': predicate; as in the
/// names of their registers.
using Type = char;
inline constexpr std::array<Type, 5> kTypes{'r', 'd', 'f', 'g', 'p'};
inline constexpr unsigned kRegisters = 5;  ///< of each type
inline constexpr unsigned kSlots = 4;      ///< words of a thread's own in each memory

using Bits = std::uint64_t;

/// An instruction without side effects, and what it computes by the host's arithmetic.
struct Operation {
  std::string spelling;
  Type result = 'r';
  std::string sources;  ///< their types
  Bits (*value)(Bits a, Bits b, Bits c) = nullptr;
};
const std::vector<Operation>& operations();

struct Operand {
  Type type = 'r';
  bool is_literal = false;
  unsigned index = 0;
  Bits literal = 0;
};

struct Statement {
  enum class Kind : std::uint8_t {
    compute,
    load,  ///< of the thread's own word `slot`
    store,
    branch,   ///< on predicate `guard`: `body` or `otherwise`
    loop,     ///< `body`, `rounds` times, or as often as the low bits of a register say
    foreign,  ///< `text`: something with other threads' words, which one thread cannot know
  };
  Kind kind = Kind::compute;
  const Operation* operation = nullptr;
  Operand result;
  std::vector<Operand> sources;
  bool is_guarded = false, negated = false;
  unsigned guard = 0;
  bool shared = false;
  unsigned slot = 0;
  unsigned rounds = 1;
  bool rounds_vary = false;
  std::vector<Statement> body, otherwise;
  std::string text;
};

struct Program {
  std::string name;
  std::vector<Statement> statements;
  unsigned threads = 32, blocks = 1;
  bool touches_others = false;  ///< has foreign statements
};

/// The same program for the same seed.
Program random_program(std::uint64_t seed, const std::string& name);

/// The kernel's parameters: an array of initial registers, one for final ones, a scratch array.
std::string text_of(const Program& program);
std::string module_header();

/// All registers of a thread; kTypes.size() * kRegisters values.
struct Registers {
  std::array<std::array<Bits, kRegisters>, kTypes.size()> of_type{};
  Bits& operator[](const Operand& operand);
};
unsigned number_of(Type type);

/// What one thread computes. Only for programs without foreign statements.
void evaluate(const Program& program, Registers& registers);

}  // namespace simgpu::random_programs
