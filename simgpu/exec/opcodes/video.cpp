#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/machine_sequences.h"

/// PTX's video instructions: on a byte, a half or a whole of a register ("Scalar Video
/// Instructions"), and on two halves or four bytes at once ("SIMD Video Instructions"). They came
/// with Kepler, and programs of image processing and bioinformatics still have them. One function
/// does them all, for they differ in what they compute alone.
namespace simgpu {
namespace {

using Wide = std::int64_t;

enum class Operation : std::uint8_t { add, sub, difference, min, max, average, shl, shr, mad, set };
enum class Second : std::uint8_t { none, add, min, max };
enum class Relation : std::uint8_t { eq, ne, lt, le, gt, ge };

/// Which part of a register a scalar instruction takes, as Operand::selector has it.
constexpr std::uint16_t kWhole = 7;

// VideoForm::flags.
constexpr std::uint8_t kSignedResult = 1, kSignedA = 2, kSignedB = 4, kSaturates = 8, kWraps = 16,
                       kPlusOne = 32, kNegatesProduct = 64, kNegatesC = 128;

/// An instruction without its registers; Lowered::immediate holds it.
struct VideoForm {
  std::uint16_t a = kWhole, b = kWhole;  ///< parts: one, or a hexadecimal digit for each
  Operation operation = Operation::add;
  std::uint8_t flags = 0;
  /// Second operation, and above it the relation of a set or the shift behind a mad.
  std::uint8_t second = 0;
  std::uint8_t target = kWhole;  ///< the part that is written, or a bit for each that is

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  Second second_operation() const { return static_cast<Second>(second & 3U); }
  unsigned detail() const { return second >> 2; }
};
static_assert(sizeof(VideoForm) == sizeof(std::int64_t));

Wide cut(std::uint64_t x, unsigned bits, bool is_signed) {
  const unsigned unused = 64 - bits;
  return is_signed ? static_cast<Wide>(x << unused) >> unused
                   : static_cast<Wide>(x << unused >> unused);
}

/// 8, 16 or 32 bits from a place on, by Operand::selector.
struct Part {
  unsigned first = 0, bits = 32;
  explicit Part(unsigned selector) {
    if (selector < 4) *this = Part(8 * selector, 8);
    if (selector == 4 || selector == 5) *this = Part(16 * (selector - 4), 16);
  }
  Part(unsigned first_bit, unsigned width) : first(first_bit), bits(width) {}
  Wide of(std::uint32_t x, bool is_signed) const { return cut(x >> first, bits, is_signed); }
};

bool holds(Relation relation, Wide a, Wide b) {
  switch (relation) {
    case Relation::eq:
      return a == b;
    case Relation::ne:
      return a != b;
    case Relation::lt:
      return a < b;
    case Relation::le:
      return a <= b;
    case Relation::gt:
      return a > b;
    case Relation::ge:
      return a >= b;
  }
  return false;
}

/// By up to 32 bits, so that nothing but the uppermost of an unsigned a can fall off.
Wide shifted_left(Wide a, Wide by) {
  constexpr Wide kBeyondAll = INT64_MAX ^ Wide { UINT32_MAX };
  return by == 32 && a > INT32_MAX ? kBeyondAll : a << by;
}

Wide computed(const VideoForm& form, Wide a, Wide b) {
  switch (form.operation) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::difference:
      return std::llabs(a - b);
    case Operation::min:
      return std::min(a, b);
    case Operation::max:
      return std::max(a, b);
    case Operation::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::shl:
      return shifted_left(a, form.has(kWraps) ? b & 31 : std::min<Wide>(b, 32));
    case Operation::shr:
      return a >> (form.has(kWraps) ? b & 31 : std::min<Wide>(b, 32));
    case Operation::set:
      return holds(static_cast<Relation>(form.detail()), a, b) ? 1 : 0;
    case Operation::mad:
      break;
  }
  return 0;
}

Wide clamped(Wide x, unsigned bits, bool is_signed) {
  const Wide most = (Wide{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(x, is_signed ? -most - 1 : 0, most);
}

std::uint32_t scalar(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Part target(form.target);
  Wide value = computed(form, Part(form.a).of(a, form.has(kSignedA)),
                        Part(form.b).of(b, form.has(kSignedB)));
  if (form.has(kSaturates)) value = clamped(value, target.bits, form.has(kSignedResult));
  const Wide addend = cut(c, 32, form.has(kSignedResult));
  switch (form.second_operation()) {
    case Second::none:
      break;
    case Second::add:
      return static_cast<std::uint32_t>(value + addend);
    case Second::min:
      return static_cast<std::uint32_t>(std::min(value, addend));
    case Second::max:
      return static_cast<std::uint32_t>(std::max(value, addend));
  }
  if (form.target == kWhole) return static_cast<std::uint32_t>(value);
  const std::uint32_t mask = (1U << target.bits) - 1;
  return (c & ~(mask << target.first)) | (static_cast<std::uint32_t>(value) & mask) << target.first;
}

/// vmad: a product of 64 bits and an addend, shifted and cut off. What is negated is inverted, and
/// 1 is added for it.
std::uint32_t mad(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  __extension__ using Wider = __int128;
  const bool negates = form.has(kNegatesProduct), negates_c = form.has(kNegatesC);
  const bool is_signed = form.has(kSignedA) || form.has(kSignedB) || negates || negates_c;
  Wider sum =
      Wider{Part(form.a).of(a, form.has(kSignedA))} * Part(form.b).of(b, form.has(kSignedB));
  std::uint32_t addend = c;
  if (negates) sum = -sum - 1;
  if (negates_c) addend = ~addend;
  sum += cut(addend, 32, is_signed);
  if (negates || negates_c || form.has(kPlusOne)) sum += 1;
  sum >>= form.detail();
  if (form.has(kSaturates)) {
    const Wider most = is_signed ? INT32_MAX : Wider{UINT32_MAX};
    sum = std::clamp<Wider>(sum, is_signed ? INT32_MIN : 0, most);
  }
  return static_cast<std::uint32_t>(sum);
}

/// The parts of both operands are numbered together, a's first.
template <unsigned kBits>
std::uint32_t parallel(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr unsigned kParts = 32 / kBits;
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  const auto part = [&](std::uint32_t digits, unsigned i, bool is_signed) {
    const unsigned number = digits >> (4 * i) & (2 * kParts - 1);
    return cut(both >> (kBits * number), kBits, is_signed);
  };
  const bool adds = form.second_operation() == Second::add;
  std::uint32_t result = adds ? c : 0;
  for (unsigned i = 0; i < kParts; ++i) {
    Wide value =
        computed(form, part(form.a, i, form.has(kSignedA)), part(form.b, i, form.has(kSignedB)));
    if (form.has(kSaturates)) value = clamped(value, kBits, form.has(kSignedResult));
    const bool is_written = (form.target >> i & 1U) != 0;
    constexpr std::uint32_t kMask = (1U << kBits) - 1;
    if (adds) {
      result += is_written ? static_cast<std::uint32_t>(value) : 0;
    } else {
      const std::uint32_t bits = is_written ? static_cast<std::uint32_t>(value) : c >> (kBits * i);
      result |= (bits & kMask) << (kBits * i);
    }
  }
  return result;
}

template <std::uint32_t (*F)(const VideoForm&, std::uint32_t, std::uint32_t, std::uint32_t)>
const Lowered* run(const Lowered* in, Warp& warp) {
  const auto form = std::bit_cast<VideoForm>(in->immediate);
  each_lane(warp.mask, [&](unsigned lane) {
    words(warp, in->dst)[lane] =
        F(form, words(warp, in->a)[lane], words(warp, in->b)[lane], words(warp, in->c)[lane]);
  });
  return in + 1;
}

// Building.

template <class T>
std::optional<T> find_name(const std::string& name,
                           const std::vector<std::pair<const char*, T>>& names) {
  for (const auto& [known, value] : names) {
    if (name == known) return value;
  }
  return std::nullopt;
}

/// "vadd4" is add, and 4 parts.
Operation operation_of(const std::string& opcode, unsigned& parts) {
  static const std::vector<std::pair<const char*, Operation>> kNames{
      {"vadd", Operation::add}, {"vsub", Operation::sub}, {"vabsdiff", Operation::difference},
      {"vmin", Operation::min}, {"vmax", Operation::max}, {"vavrg", Operation::average},
      {"vshl", Operation::shl}, {"vshr", Operation::shr}, {"vmad", Operation::mad},
      {"vset", Operation::set}};
  std::string name = opcode;
  parts = name.back() == '2' ? 2 : name.back() == '4' ? 4 : 1;
  if (parts != 1) name.pop_back();
  return *find_name(name, kNames);
}

/// Modifiers other than types, which are the result's (but for vset), a's and b's in this order.
VideoForm read_modifiers(const ptx::Instruction& instruction, Operation operation) {
  static const std::vector<std::pair<const char*, std::uint8_t>> kFlags{
      {"sat", kSaturates}, {"wrap", kWraps}, {"po", kPlusOne}};
  static const std::vector<std::pair<const char*, Second>> kSeconds{
      {"add", Second::add}, {"min", Second::min}, {"max", Second::max}};
  static const std::vector<std::pair<const char*, unsigned>> kDetails{
      {"shr7", 7},
      {"shr15", 15},
      {"eq", static_cast<unsigned>(Relation::eq)},
      {"ne", static_cast<unsigned>(Relation::ne)},
      {"lt", static_cast<unsigned>(Relation::lt)},
      {"le", static_cast<unsigned>(Relation::le)},
      {"gt", static_cast<unsigned>(Relation::gt)},
      {"ge", static_cast<unsigned>(Relation::ge)}};
  VideoForm form;
  form.operation = operation;
  std::uint8_t type = operation == Operation::set ? kSignedA : kSignedResult;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "u32" || modifier == "s32") {
      if (modifier == "s32") form.flags |= type;
      type = static_cast<std::uint8_t>(type << 1);
    } else if (const auto flag = find_name(modifier, kFlags)) {
      form.flags |= *flag;
    } else if (const auto second = find_name(modifier, kSeconds)) {
      form.second |= static_cast<std::uint8_t>(*second);
    } else if (const auto detail = find_name(modifier, kDetails)) {
      form.second |= static_cast<std::uint8_t>(*detail << 2);
    }
  }
  return form;
}

/// The parts that an operand of a parallel instruction names, each a hexadecimal digit.
std::uint16_t digits_of(KernelBuilder& builder, const ptx::Operand& operand, unsigned parts,
                        std::uint16_t usual) {
  if (operand.selector < 0) return usual;
  if (operand.part_count != parts) builder.refuse(builder.instruction().spelling() + " of these");
  return static_cast<std::uint16_t>(operand.parts);
}

/// The parts that are written, a bit for each.
std::uint8_t mask_of(const ptx::Operand& operand, unsigned parts) {
  if (operand.selector < 0) return static_cast<std::uint8_t>((1U << parts) - 1);
  if (operand.part_count == 0) {
    return static_cast<std::uint8_t>(1U << (operand.selector & (parts - 1)));
  }
  std::uint8_t mask = 0;
  for (unsigned i = 0; i < operand.part_count; ++i) {
    mask |= static_cast<std::uint8_t>(1U << (operand.parts >> (4 * i) & (parts - 1)));
  }
  return mask;
}

std::uint8_t part_of(KernelBuilder& builder, const ptx::Operand& operand) {
  if (operand.selector < 0) return kWhole;
  if (operand.part_count != 0) builder.refuse(builder.instruction().spelling() + " of these");
  return static_cast<std::uint8_t>(operand.selector);
}

void read_parts(KernelBuilder& builder, VideoForm& form, unsigned parts) {
  const auto& operands = builder.instruction().operands;
  if (parts == 1) {
    form.target = part_of(builder, operands[0]);
    form.a = part_of(builder, operands[1]);
    form.b = part_of(builder, operands[2]);
    return;
  }
  form.target = mask_of(operands[0], parts);
  form.a = digits_of(builder, operands[1], parts, parts == 2 ? 0x10 : 0x3210);
  form.b = digits_of(builder, operands[2], parts, parts == 2 ? 0x32 : 0x7654);
}

void build_video(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  unsigned parts = 1;
  const Operation operation = operation_of(instruction.opcode, parts);
  VideoForm form = read_modifiers(instruction, operation);
  const auto& operands = instruction.operands;
  const bool merges = operands.size() > 2 && operands[0].selector >= 0;
  const bool needs_c =
      parts > 1 || operation == Operation::mad || merges || form.second_operation() != Second::none;
  if (operands.size() != (needs_c ? 4U : 3U)) {
    builder.refuse(instruction.spelling() + " with other operands");
  }
  read_parts(builder, form, parts);
  if (operation == Operation::mad) {
    if (operands[1].negated != operands[2].negated) form.flags |= kNegatesProduct;
    if (operands[3].negated) form.flags |= kNegatesC;
  } else if (std::ranges::any_of(operands, &ptx::Operand::negated)) {
    builder.refuse("a negated operand of " + instruction.spelling());
  }
  const auto value = [&](std::size_t i) { return builder.source(operands[i].elements.at(0), 'i'); };
  const Ref a = value(1), b = value(2), c = needs_c ? value(3) : builder.constant(0, 4);
  const Ref dst = builder.destination(operands[0].elements.at(0), 'i');
  const Handler handler = operation == Operation::mad ? &run<&mad>
                          : parts == 2                ? &run<&parallel<16>>
                          : parts == 4                ? &run<&parallel<8>>
                                                      : &run<&scalar>;
  Pending& pending = builder.emit(
      handler,
      {.cls = InstructionClass::integer, .sequence = video_sequence(builder.instruction().opcode)});
  pending.a = a;
  pending.b = b;
  pending.c = c;
  pending.dst = dst;
  pending.immediate = std::bit_cast<std::int64_t>(form);
}

}  // namespace

OpcodeFile video_opcodes() {
  const std::string types = "u32|s32 u32|s32 u32|s32 ", sources = "u32|s32 u32|s32 ";
  const std::string relation = "eq|ne|lt|le|gt|ge ";
  const std::vector<ModifierForm> scalars{types + "[sat] [add|min|max]"};
  const std::vector<ModifierForm> several{types + "[sat]", types + "add"};
  const std::vector<ModifierForm> shifts{types + "clamp|wrap [sat] [add|min|max]"};
  std::vector<BuiltOpcode> all{{"vshl", build_video, shifts},
                               {"vshr", build_video, shifts},
                               {"vmad", build_video, {types + "[sat] [shr7|shr15] [po]"}},
                               {"vset", build_video, {sources + relation + "[add|min|max]"}},
                               {"vset2", build_video, {sources + relation + "[add]"}},
                               {"vset4", build_video, {sources + relation + "[add]"}}};
  for (const char* root : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    all.push_back({root, build_video, scalars});
    all.push_back({root + std::string("2"), build_video, several});
    all.push_back({root + std::string("4"), build_video, several});
  }
  all.push_back({"vavrg2", build_video, several});
  all.push_back({"vavrg4", build_video, several});
  return {.built = std::move(all)};
}

}  // namespace simgpu
