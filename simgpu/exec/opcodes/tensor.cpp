#include "simgpu/exec/opcodes/tensor.h"
#include "simgpu/exec/required_lanes.h"

#include <algorithm>
#include <array>

#include "simgpu/arith/aligned_matrix.h"
#include "simgpu/arith/matrix.h"
#include "simgpu/exec/device_print.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/thread_block.h"

/// mma and wmma.mma: products of tiles that lie in registers.
namespace simgpu {
namespace {

arith::TileShape tile_of(const TensorProduct& p) { return {p.shape.m, p.shape.n, p.shape.k}; }

// The largest tiles of any shape, in elements.
constexpr std::size_t kMostInputs = 1024;  // 16 x 64 of four bits
constexpr std::size_t kMostSums = 256;

/// Registers in the list: d, a, b, c. Everything is read before d is written, which may share their
/// slots.
struct Operands {
  Operands(const Lowered* in, Warp& warp, const TensorProduct& p)
      : d{warp.regs, warp.lists + in->list},
        a{warp.regs, d.list + p.fragment_d().registers()},
        b{warp.regs, a.list + p.input_registers(p.fragment_a())},
        c{warp.regs, b.list + p.input_registers(p.fragment_b())} {}
  FragmentSlots d, a, b, c;
};

/// Whether the GPU's tensor cores sum as arith::aligned_tile_product() says, which is known of
/// Hopper.
bool aligns_terms(const Warp& warp) { return warp.block->launch.gpu.compute_capability_major >= 9; }

arith::AlignedSums rule_of(const TensorProduct& p) {
  const auto least_exponent = [](TileType type) { return type == TileType::f16 ? -14 : -126; };
  // wmma is two instructions there, mma is one.
  const bool in_halves = p.is_wmma && p.a == TileType::tf32;
  return {least_exponent(p.a), least_exponent(p.c), in_halves ? std::size_t{4} : std::size_t{0},
          p.d == TileType::f16};
}

/// f16, bf16, tf32 (T is float) and f64 (double).
template <class T>
const Lowered* multiply_floats(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const TensorProduct p = TensorProduct::decode(in->immediate);
  const Operands operands(in, warp, p);
  constexpr std::size_t kMost = kMostInputs / 2;
  alignas(64) std::array<T, kMost> a;         // (m, k)
  alignas(64) std::array<T, kMost> b;         // (k, n)
  alignas(64) std::array<T, kMostSums> sums;  // (m, n)
  unpack_a(p.fragment_a(), operands.a, a.data());
  unpack_b(p.fragment_b(), operands.b, b.data());
  unpack_sums(p.fragment_c(), operands.c, sums.data());
  const auto [m, n, k] = p.shape;
  const std::span<const T> of_a(a.data(), m * k);
  const std::span<const T> of_b(b.data(), k * n);
  const std::span<T> of_sums(sums.data(), m * n);
  if constexpr (sizeof(T) == 4) {
    if (aligns_terms(warp)) {
      arith::aligned_tile_product(tile_of(p), of_a, of_b, of_sums, rule_of(p));
      pack_sums(p.fragment_d(), sums.data(), operands.d);
      return in + 1;
    }
  }
  arith::tile_product(tile_of(p), of_a, of_b, of_sums);
  pack_sums(p.fragment_d(), sums.data(), operands.d);
  return in + 1;
}

const Lowered* multiply_integers(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const TensorProduct p = TensorProduct::decode(in->immediate);
  const Operands operands(in, warp, p);
  alignas(64) std::array<std::int16_t, kMostInputs> a;   // (m, k)
  alignas(64) std::array<std::int16_t, kMostInputs> b;   // (n, k)
  alignas(64) std::array<std::int32_t, kMostSums> sums;  // (m, n)
  unpack_integers(p.fragment_a(), operands.a, a.data());
  unpack_integers(p.fragment_b(), operands.b, b.data());
  unpack_sums(p.fragment_c(), operands.c, sums.data());
  const auto [m, n, k] = p.shape;
  arith::tile_product(tile_of(p), std::span<const std::int16_t>(a.data(), m * k),
                      std::span<const std::int16_t>(b.data(), n * k),
                      std::span<std::int32_t>(sums.data(), m * n), p.saturates);
  pack_sums(p.fragment_d(), sums.data(), operands.d);
  return in + 1;
}

const Lowered* multiply_bits(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const TensorProduct p = TensorProduct::decode(in->immediate);
  const Operands operands(in, warp, p);
  std::array<std::uint32_t, kMostInputs / 8> a;  // (m, k / 32)
  std::array<std::uint32_t, kMostInputs / 8> b;  // (n, k / 32)
  std::array<std::int32_t, kMostSums> sums;      // (m, n)
  unpack_bits(p.fragment_a(), operands.a, a.data());
  unpack_bits(p.fragment_b(), operands.b, b.data());
  unpack_sums(p.fragment_c(), operands.c, sums.data());
  const auto [m, n, k] = p.shape;
  arith::bit_tile_product(tile_of(p), std::span<const std::uint32_t>(a.data(), m * k / 32),
                          std::span<const std::uint32_t>(b.data(), n * k / 32),
                          std::span<std::int32_t>(sums.data(), m * n),
                          p.is_xor ? arith::BitOperation::xor_ : arith::BitOperation::and_);
  pack_sums(p.fragment_d(), sums.data(), operands.d);
  return in + 1;
}

// Building.

using Shapes = std::vector<std::string_view>;

bool is_one_of(const ProductShape& shape, const Shapes& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    const ProductShape known = *product_shape_of(name);
    return known.m == shape.m && known.n == shape.n && known.k == shape.k;
  });
}

/// The shapes of mma ("Matrix Fragments for mma …", PTX ISA). m8n8k4 of f16, which only GPUs before
/// Turing ran fast, is not among them.
bool has_mma_input(const ProductShape& shape, TileType input) {
  switch (input) {
    case TileType::f16:
    case TileType::bf16:
      return is_one_of(shape, {"m16n8k8", "m16n8k16"});
    case TileType::tf32:
      return is_one_of(shape, {"m16n8k4", "m16n8k8"});
    case TileType::f64:
      return is_one_of(shape, {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"});
    case TileType::s8:
    case TileType::u8:
      return is_one_of(shape, {"m8n8k16", "m16n8k16", "m16n8k32"});
    case TileType::s4:
    case TileType::u4:
      return is_one_of(shape, {"m8n8k32", "m16n8k32", "m16n8k64"});
    case TileType::b1:
      return is_one_of(shape, {"m8n8k128", "m16n8k128", "m16n8k256"});
    default:
      return false;
  }
}

/// The type in which products of `input` are summed when it is not f16.
TileType sum_of(TileType input) {
  if (input == TileType::f64) return TileType::f64;
  return bits_of(input) <= 8 ? TileType::s32 : TileType::f32;
}

/// A and B have one type; in mma, integers of the same size may differ in sign.
bool types_match(TileType a, TileType b, bool is_wmma) {
  return a == b || (!is_wmma && bits_of(a) == bits_of(b) && bits_of(a) <= 8);
}

bool sums_match(const TensorProduct& p, bool is_wmma) {
  const auto fits = [&](TileType sum) {
    return sum == sum_of(p.a) || (p.a == TileType::f16 && sum == TileType::f16);
  };
  return fits(p.c) && fits(p.d) && (is_wmma || p.c == p.d);
}

ptx::Type counted_type(TileType input) {
  switch (input) {
    case TileType::f16:
      return ptx::Type::f16;
    case TileType::bf16:
      return ptx::Type::bf16;
    case TileType::tf32:
      return ptx::Type::tf32;
    case TileType::f64:
      return ptx::Type::f64;
    default:
      return ptx::Type::s8;
  }
}

Handler handler_of(TileType input) {
  if (input == TileType::f64) return &multiply_floats<double>;
  if (input == TileType::b1) return &multiply_bits;
  return bits_of(input) <= 8 ? &multiply_integers : &multiply_floats<float>;
}

/// mma writes its types d.a.b.c; so does wmma.mma, except with f16: d.c.
TensorProduct read_product(KernelBuilder& builder, bool is_wmma) {
  const ptx::Instruction& instruction = builder.instruction();
  const TensorModifiers modifiers = tensor_modifiers(instruction);
  const std::vector<TileType>& types = modifiers.types;
  if (types.size() != 2 && types.size() != 4) builder.refuse(instruction.spelling());
  TensorProduct p;
  p.shape = modifiers.shape;
  p.d = types.front();
  p.c = types.back();
  p.a = types.size() == 2 ? TileType::f16 : types[1];
  p.b = types.size() == 2 ? TileType::f16 : types[2];
  p.saturates = instruction.has("satfinite");
  p.is_xor = instruction.has("xor");
  p.is_wmma = is_wmma;
  p.pads_inputs = is_wmma && p.a == TileType::f16;
  const bool has_input = is_wmma ? has_wmma_input(p.shape, p.a) : has_mma_input(p.shape, p.a);
  const bool writes_f16 = !is_wmma || (types.size() == 2) == (p.a == TileType::f16);
  // Fragments have one layout whatever that of the memory, but smaller types come in one only.
  const bool fixed_layout = !is_wmma || bits_of(p.a) < 8;
  const bool right_layout = modifiers.by_column.size() == 2 &&
                            (!fixed_layout || (!modifiers.by_column[0] && modifiers.by_column[1]));
  const bool is_integer = bits_of(p.a) == 8 || bits_of(p.a) == 4;
  const bool is_bit = p.a == TileType::b1;
  const bool right_operation = (!p.saturates || is_integer) && instruction.has("popc") == is_bit &&
                               (!instruction.has("rn") || p.a == TileType::f64);
  if (!has_input || !types_match(p.a, p.b, is_wmma) || !sums_match(p, is_wmma) || !writes_f16 ||
      !right_layout || !right_operation || builder.operand_count() != 4) {
    builder.refuse(instruction.spelling());
  }
  return p;
}

void build_product(KernelBuilder& builder, bool is_wmma) {
  const TensorProduct p = read_product(builder, is_wmma);
  const char kind = p.a == TileType::f64 ? 'd' : 'i';
  const auto sums = [&](std::size_t operand, const SumFragment& fragment, bool writes) {
    return fragment_registers(builder, operand, fragment.registers(), kind, writes);
  };
  const auto inputs = [&](std::size_t operand, const InputFragment& fragment) {
    return fragment_registers(builder, operand, p.input_registers(fragment), kind, false);
  };
  const std::vector<Ref> d = sums(0, p.fragment_d(), true);
  const std::vector<Ref> a = inputs(1, p.fragment_a());
  const std::vector<Ref> b = inputs(2, p.fragment_b());
  const std::vector<Ref> c = sums(3, p.fragment_c(), false);
  Pending& pending =
      builder.emit(handler_of(p.a), {.cls = InstructionClass::tensor,
                                     .flop_type = counted_type(p.a),
                                     .flops = 2 * p.shape.m * p.shape.n * p.shape.k});
  pending.outs = d;
  for (const std::vector<Ref>* operand : {&a, &b, &c}) {
    pending.ins.insert(pending.ins.end(), operand->begin(), operand->end());
  }
  pending.immediate = p.encode();
}

void build_mma(KernelBuilder& builder) { build_product(builder, false); }

void build_wmma(KernelBuilder& builder) {
  if (builder.instruction().has("mma")) {
    build_product(builder, true);
  } else {
    build_wmma_move(builder);
  }
}

}  // namespace

std::int64_t TensorProduct::encode() const {
  const auto type = [](TileType of, unsigned at) { return static_cast<std::int64_t>(of) << at; };
  return shape.m | shape.n << 8 | shape.k << 16 | type(a, 28) | type(b, 32) | type(c, 36) |
         type(d, 40) | std::int64_t{saturates} << 44 | std::int64_t{is_xor} << 45 |
         std::int64_t{is_wmma} << 46 | std::int64_t{pads_inputs} << 47;
}

TensorProduct TensorProduct::decode(std::int64_t bits) {
  const auto field = [&](unsigned at, unsigned mask) {
    return static_cast<unsigned>(bits >> at) & mask;
  };
  const auto type = [&](unsigned at) { return static_cast<TileType>(field(at, 15)); };
  return {{field(0, 255), field(8, 255), field(16, 4095)},
          type(28),
          type(32),
          type(36),
          type(40),
          field(44, 1) != 0,
          field(45, 1) != 0,
          field(46, 1) != 0,
          field(47, 1) != 0};
}

TensorModifiers tensor_modifiers(const ptx::Instruction& instruction) {
  TensorModifiers result;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "row" || modifier == "col") {
      result.by_column.push_back(modifier == "col");
    } else if (const auto shape = product_shape_of(modifier)) {
      result.shape = *shape;
    } else if (const auto type = tile_type_of(modifier)) {
      result.types.push_back(*type);
    } else if (modifier.size() == 1) {
      result.matrix = modifier[0];
    }
  }
  return result;
}

bool has_wmma_input(const ProductShape& shape, TileType input) {
  switch (input) {
    case TileType::f16:
    case TileType::bf16:
    case TileType::s8:
    case TileType::u8:
      return is_one_of(shape, {"m16n16k16", "m32n8k16", "m8n32k16"});
    case TileType::tf32:
      return is_one_of(shape, {"m16n16k8"});
    case TileType::f64:
      return is_one_of(shape, {"m8n8k4"});
    case TileType::s4:
    case TileType::u4:
      return is_one_of(shape, {"m8n8k32"});
    case TileType::b1:
      return is_one_of(shape, {"m8n8k128"});
    default:
      return false;
  }
}

bool has_wmma_sum(const ProductShape& shape, TileType sum) {
  switch (sum) {
    case TileType::f16:
      return has_wmma_input(shape, TileType::f16);
    case TileType::f32:
      return has_wmma_input(shape, TileType::f16) || has_wmma_input(shape, TileType::tf32);
    case TileType::f64:
      return has_wmma_input(shape, TileType::f64);
    case TileType::s32:
      return has_wmma_input(shape, TileType::s8) || has_wmma_input(shape, TileType::s4) ||
             has_wmma_input(shape, TileType::b1);
    default:
      return false;
  }
}

void require_full_warp(const Lowered* in, Warp& warp) {
  if (warp.mask == 0xFFFFFFFFU) return;
  require_whole_warp(in, warp, false);
  warp.block->failures.fail(
      in, warp, static_cast<unsigned>(__builtin_ctz(warp.mask)),
      {.code = "RL0305",
       .message = "A tile operation needs all 32 threads of the warp, but some have ended or never "
                  "existed",
       .place = {.words = "", .detail = FindingDetail::lanes_apart}});
}

std::vector<Ref> fragment_registers(KernelBuilder& builder, std::size_t operand, unsigned count,
                                    char kind, bool writes) {
  std::vector<Ref> refs =
      writes ? builder.destinations(operand, kind) : builder.sources(operand, kind);
  if (refs.size() != count) {
    builder.refuse(builder.instruction().spelling() + " with " + std::to_string(refs.size()) +
                   " registers");
  }
  return refs;
}

OpcodeFile tensor_opcodes() {
  const std::string small_shapes = "m8n8k4|m8n8k16|m8n8k32|m8n8k128|m16n8k4|m16n8k8|m16n8k16";
  const std::string shape = " sync aligned row|col row|col ";
  const std::string type = " f16|bf16|tf32|f32|f64|s8|u8|s4|u4|b1|s32";
  const std::string types = type + type + type + type;
  const std::string mma_shape = shape + small_shapes + "|m16n8k32|m16n8k64|m16n8k128|m16n8k256";
  const std::string wmma_shapes = "m16n16k16|m32n8k16|m8n32k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128";
  const std::string move = " sync aligned row|col " + wmma_shapes + " [global|shared|shared::cta]";
  const std::string wmma_shape = "mma" + shape + wmma_shapes;
  return {.built = {{"mma",
                     build_mma,
                     {mma_shape + " [satfinite]" + types, mma_shape + " [rn]" + types,
                      mma_shape + " and|xor popc" + types}},
                    {"wmma",
                     build_wmma,
                     {"load a|b|c" + move + type, "store d" + move + type, wmma_shape + type + type,
                      wmma_shape + " [satfinite]" + types, wmma_shape + " [rn]" + types,
                      wmma_shape + " and|xor popc" + types}}}};
}

}  // namespace simgpu
