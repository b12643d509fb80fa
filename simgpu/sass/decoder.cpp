#include "simgpu/sass/decoder.h"

#include "simgpu/sass/opcodes.h"

// The layout of control fields and operands is that of Jia et al., "Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking" (2018), section 2.1, and "Dissecting the NVidia Turing T4
// GPU" (2019). Where jumps lead was found by comparing with nvdisasm, for each architecture.
namespace simgpu::sass {
namespace {

constexpr unsigned kNumberBits = 9, kFormBits = 3;
// Forms of operands: all registers, the last or the one before it a literal.
constexpr unsigned kOnlyRegisters = 1, kLiteralLast = 2, kLiteralBeforeLast = 4;
constexpr unsigned kFirstWithShortJumps = 90;
// From here on the high bits of BSSY tell how lanes meet again (RECONVERGENT, RELIABLE).
constexpr unsigned kFirstWithKindsOfScopes = 100;
constexpr unsigned kCollectiveBit = 9;  // in WARPSYNC's form: 0x348 has a target, 0x948 has none

constexpr std::uint64_t bits(std::uint64_t word, unsigned first, unsigned count) {
  return word >> first & ((std::uint64_t{1} << count) - 1);
}

IssueControl control_of(std::uint64_t high) {
  return {.stall_cycles = static_cast<unsigned>(bits(high, 41, 4)),
          .yields = bits(high, 45, 1) == 0,
          .write_barrier = static_cast<unsigned>(bits(high, 46, 3)),
          .read_barrier = static_cast<unsigned>(bits(high, 49, 3)),
          .wait_mask = static_cast<unsigned>(bits(high, 52, 6)),
          .reuse_mask = static_cast<unsigned>(bits(high, 58, 4))};
}

void take_registers(Word word, std::string_view fields, Instruction& instruction) {
  const std::uint64_t form = bits(word.low, kNumberBits, kFormBits);
  const bool only_registers = form == kOnlyRegisters;
  std::size_t operand = 0;
  const auto read = [&](std::uint64_t number) {
    instruction.reads.at(operand++) = static_cast<std::uint8_t>(number);
  };
  for (const char field : fields) {
    if (field == 'd' || (field == 'o' && only_registers))
      instruction.writes = static_cast<std::uint8_t>(bits(word.low, 16, 8));
    if (field == 'a' || (field == 'r' && only_registers)) read(bits(word.low, 24, 8));
    const bool is_lane = field == 'l' && (only_registers || form == kLiteralLast);
    if (field == 's' || is_lane || (field == 'b' && only_registers)) read(bits(word.low, 32, 8));
    const bool is_mask = field == 'm' && (only_registers || form == kLiteralBeforeLast);
    if (field == 'c' || is_mask || (field == 'e' && only_registers)) read(bits(word.high, 0, 8));
  }
}

/// Bytes of each lane, by the field that memory instructions have in common.
unsigned access_bytes(std::uint64_t high) {
  switch (bits(high, 9, 3)) {
    case 0:
    case 1:
      return 1;
    case 2:
    case 3:
      return 2;
    case 4:
      return 4;
    case 5:
      return 8;
    case 6:
      return 16;
    default:
      return 0;
  }
}

/// DEPBAR.LE SB0, 0x2: the scoreboard, and how many of its operations may still be under way.
std::optional<Instruction::Awaited> awaited(Word word) {
  if (bits(word.low, 47, 1) == 0) return std::nullopt;
  return Instruction::Awaited{.scoreboard = static_cast<unsigned>(bits(word.low, 44, 3)),
                              .left = static_cast<unsigned>(bits(word.low, 38, 6))};
}

bool has_access_bytes(const Opcode& opcode) {
  constexpr std::string_view kMatrices[] = {"LDSM", "STSM"};
  switch (opcode.cls) {
    case InstructionClass::global_load:
    case InstructionClass::global_store:
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::local_load:
    case InstructionClass::local_store:
    case InstructionClass::async_copy:
      return opcode.name != kMatrices[0] && opcode.name != kMatrices[1];
    case InstructionClass::generic_access:
      return opcode.name == "LD" || opcode.name == "ST";
    default:
      return false;
  }
}

std::int64_t sign_extended(std::uint64_t value, unsigned width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

/// Bytes from the end of the instruction.
std::int64_t distance(Word word, bool is_short) {
  constexpr unsigned kLowBits = 30, kHighBits = 18, kShortBits = 8, kUnit = 4;
  std::uint64_t value = bits(word.low, 34, kLowBits) | bits(word.high, 0, kHighBits) << kLowBits;
  unsigned width = kLowBits + kHighBits;
  if (is_short) {
    value = value << kShortBits | bits(word.low, 16, kShortBits);
    width += kShortBits;
  }
  return sign_extended(value, width) * kUnit;
}

/// How far the end of a scope lies from the end of its BSSY, in bytes.
std::int64_t length_of_scope(Word word, unsigned capability) {
  if (capability < kFirstWithKindsOfScopes) return distance(word, false);
  return distance({.low = word.low, .high = 0}, false);
}

/// A jump may have a second condition, be of a whole warp's predicate (BRA.U), or depend on whether
/// lanes part (BRA.DIV, BRA.CONV).
bool has_further_condition(Word word) {
  constexpr std::uint64_t kAlways = 7, kOfWarp = 2;
  if (bits(word.low, kNumberBits, kFormBits) == kOfWarp && bits(word.low, 24, 4) != kAlways)
    return true;
  return bits(word.high, 23, 4) != kAlways || bits(word.low, 32, 2) > 1;
}

void take_flow(Word word, const Opcode& opcode, unsigned capability, Instruction& instruction) {
  const bool is_short = capability >= kFirstWithShortJumps;
  const auto at = [&](std::int64_t bytes) {
    return instruction.address + kInstructionBytes + static_cast<std::uint64_t>(bytes);
  };
  instruction.flow = opcode.flow;
  instruction.is_conditional = !instruction.predicate.is_always();
  switch (opcode.flow) {
    case Flow::branch:
      instruction.is_conditional |= has_further_condition(word);
      instruction.target = at(distance(word, is_short));
      return;
    case Flow::call:
      instruction.target = at(distance(word, is_short));
      return;
    case Flow::scope:
      instruction.target = at(length_of_scope(word, capability));
      instruction.convergence_barrier = static_cast<unsigned>(bits(word.low, 16, 4));
      return;
    case Flow::reconverge:
      instruction.convergence_barrier = static_cast<unsigned>(bits(word.low, 16, 4));
      return;
    case Flow::collective:
      if (bits(word.low, kCollectiveBit, kFormBits) == kOnlyRegisters && is_short)
        instruction.target = at(distance(word, true));
      else
        instruction.flow = Flow::next;
      return;
    default:
      return;
  }
}

}  // namespace

Instruction decode(Word word, unsigned capability, std::uint64_t address) {
  Instruction instruction{.address = address,
                          .opcode = static_cast<unsigned>(bits(word.low, 0, 12)),
                          .predicate = {.index = static_cast<unsigned>(bits(word.low, 12, 3)),
                                        .negated = bits(word.low, 15, 1) != 0},
                          .control = control_of(word.high)};
  const Opcode* const opcode =
      find_opcode(static_cast<unsigned>(bits(word.low, 0, kNumberBits)), capability);
  if (opcode == nullptr) return instruction;
  instruction.name = opcode->name;
  instruction.cls = opcode->cls;
  take_registers(word, opcode->registers, instruction);
  if (has_access_bytes(*opcode)) instruction.access_bytes = access_bytes(word.high);
  if (opcode->name == "DEPBAR") instruction.awaited = awaited(word);
  take_flow(word, *opcode, capability, instruction);
  return instruction;
}

}  // namespace simgpu::sass
