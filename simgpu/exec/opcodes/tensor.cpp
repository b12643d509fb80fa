#include <algorithm>
#include <array>
#include <optional>

#include "simgpu/arith/half.h"
#include "simgpu/arith/matrix.h"
#include "simgpu/exec/device_print.h"
#include "simgpu/exec/memory_access.h"
#include "simgpu/exec/opcodes/opcode.h"

/// wmma.load, wmma.store and wmma.mma, for f16, bf16 and tf32 tiles with f32 or f16 accumulators.
///
/// PTX leaves open which lane holds which element of a fragment. Here an element's number in the
/// fragment's own order (rows of a row-major A, B or accumulator, columns of a column-major A or B)
/// is split evenly: lane i holds elements i*n to (i+1)*n - 1, so that an aligned tile is loaded in
/// pieces of 16 bytes.
namespace simgpu {
namespace {

enum class Element16 : std::uint8_t { f16, bf16, tf32, f32 };

unsigned bytes_of(Element16 element) {
  return element == Element16::f16 || element == Element16::bf16 ? 2 : 4;
}

/// A fragment: its matrix, and how memory order relates to fragment order.
struct Fragment {
  unsigned rows = 0, columns = 0;
  Element16 element = Element16::f32;
  bool by_column = false;  ///< fragment order: columns one after the other

  unsigned elements() const { return rows * columns; }
  unsigned per_lane() const { return elements() / kWarpSize; }
  unsigned registers() const { return per_lane() * bytes_of(element) / 4; }
  unsigned minor() const { return by_column ? rows : columns; }
};

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

/// Fields in Lowered::option.
std::uint32_t encode(const Fragment& fragment, bool memory_by_column, unsigned space) {
  return fragment.rows | fragment.columns << 6 | static_cast<unsigned>(fragment.element) << 12 |
         static_cast<unsigned>(fragment.by_column) << 14 |
         static_cast<unsigned>(memory_by_column) << 15 | space << 16;
}
Fragment decode(std::uint32_t option) {
  return {option & 63U, option >> 6 & 63U, static_cast<Element16>(option >> 12 & 3U),
          (option >> 14 & 1U) != 0};
}

enum TileSpace : unsigned { kGeneric, kGlobal, kShared };

/// Element `i` of a lane: its two coordinates.
struct Place {
  unsigned row = 0, column = 0;
};
Place place_of(const Fragment& fragment, unsigned lane, unsigned i) {
  const unsigned number = lane * fragment.per_lane() + i;
  const unsigned major = number / fragment.minor();
  const unsigned minor = number % fragment.minor();
  return fragment.by_column ? Place{minor, major} : Place{major, minor};
}

/// Reads or writes a part of an element's register: fragments of 16-bit elements hold two in each.
std::uint32_t get_element(Warp& warp, std::uint32_t list, const Fragment& fragment, unsigned lane,
                          unsigned i) {
  if (bytes_of(fragment.element) == 4) return words(warp, warp.lists[list + i])[lane];
  const std::uint32_t word = words(warp, warp.lists[list + i / 2])[lane];
  return i % 2 == 0 ? word & 0xFFFFU : word >> 16;
}
void set_element(Warp& warp, std::uint32_t list, const Fragment& fragment, unsigned lane,
                 unsigned i, std::uint32_t bits) {
  if (bytes_of(fragment.element) == 4) {
    words(warp, warp.lists[list + i])[lane] = bits;
    return;
  }
  std::uint32_t& word = words(warp, warp.lists[list + i / 2])[lane];
  word = i % 2 == 0 ? (word & 0xFFFF0000U) | bits : (word & 0xFFFFU) | bits << 16;
}

/// Where each lane's bytes are, once checked and counted: generic addresses of a tile are all in
/// the space of the first one.
template <unsigned kBytes, AccessKind kKind>
std::array<std::byte*, kWarpSize> locate(const Lowered* in, Warp& warp,
                                         const LaneAddresses& addresses, bool shared,
                                         const std::uint8_t* values) {
  std::array<std::byte*, kWarpSize> places{};
  if (shared) {
    alignas(64) std::array<std::uint32_t, kWarpSize> offsets;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      offsets[lane] =
          addresses[lane] > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(addresses[lane]);
    }
    const auto at = prepare_shared<kBytes, kKind>(in, warp, offsets.data(), 0, values);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) places[lane] = at.lane(lane);
  } else {
    const auto at = prepare_global<kBytes, kKind, true>(in, warp, addresses.data(), 0, values);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) places[lane] = at.lane(lane);
  }
  return places;
}

void require_full_warp(const Lowered* in, Warp& warp) {
  if (warp.mask == 0xFFFFFFFFU) return;
  require_lanes(in, warp, 0xFFFFFFFFU);
  warp.block->fail(
      LaunchStatus::launch_failure, FindingKind::divergent_barrier, "RL0305", in, warp,
      static_cast<unsigned>(__builtin_ctz(warp.mask)),
      "A tile operation needs all 32 threads of the warp, but some have ended or never "
      "existed");
}

/// One pass over a tile in pieces of kBytes per lane; `count` elements in each piece.
template <unsigned kBytes, AccessKind kKind>
void move_pieces(const Lowered* in, Warp& warp, const Fragment& fragment, bool memory_by_column,
                 bool shared, std::uint64_t base, std::uint64_t stride, std::uint32_t list) {
  const unsigned size = bytes_of(fragment.element);
  const unsigned count = kBytes / size;
  for (unsigned first = 0; first < fragment.per_lane(); first += count) {
    LaneAddresses addresses;
    std::array<std::uint8_t, std::size_t{kBytes} * kWarpSize> values;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Place place = place_of(fragment, lane, first);
      const std::uint64_t index =
          memory_by_column ? place.column * stride + place.row : place.row * stride + place.column;
      addresses[lane] = base + index * size;
      if constexpr (kKind == AccessKind::store) {
        for (unsigned i = 0; i < count; ++i) {
          const std::uint32_t bits = get_element(warp, list, fragment, lane, first + i);
          std::memcpy(&values[std::size_t{lane} * kBytes + std::size_t{i} * size], &bits, size);
        }
      }
    }
    const auto places = locate<kBytes, kKind>(in, warp, addresses, shared,
                                              kKind == AccessKind::store ? values.data() : nullptr);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if constexpr (kKind == AccessKind::store) {
        std::memcpy(places[lane], &values[std::size_t{lane} * kBytes], kBytes);
      } else {
        for (unsigned i = 0; i < count; ++i) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, places[lane] + std::size_t{i} * size, size);
          set_element(warp, list, fragment, lane, first + i, bits);
        }
      }
    }
  }
}

/// a: address, b: stride in elements; the fragment's registers are in the list.
template <AccessKind kKind>
const Lowered* move_tile(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const Fragment fragment = decode(in->option);
  const bool memory_by_column = (in->option >> 15 & 1U) != 0;
  const unsigned space = in->option >> 16;
  std::uint64_t base = pairs(warp, in->a)[0] + static_cast<std::uint64_t>(in->immediate);
  bool shared = space == kShared;
  if (space == kGeneric && base - kSharedWindow < kWindowBytes) {
    shared = true;
    base -= kSharedWindow;
  }
  const std::uint64_t stride = words(warp, in->b)[0];
  const unsigned chunk = std::min(16U, fragment.per_lane() * bytes_of(fragment.element));
  const auto move = [&](auto bytes) {
    move_pieces<decltype(bytes)::value, kKind>(in, warp, fragment, memory_by_column, shared, base,
                                               stride, in->list);
  };
  const bool in_order = memory_by_column == fragment.by_column;
  if (in_order && chunk == 16 && (base % 16) == 0 &&
      stride * bytes_of(fragment.element) % 16 == 0) {
    move(std::integral_constant<unsigned, 16>{});
  } else if (in_order && chunk >= 8 && (base % 8) == 0 &&
             stride * bytes_of(fragment.element) % 8 == 0) {
    move(std::integral_constant<unsigned, 8>{});
  } else if (bytes_of(fragment.element) == 4) {
    move(std::integral_constant<unsigned, 4>{});
  } else {
    move(std::integral_constant<unsigned, 2>{});
  }
  return shared ? in + 1 : after_global(in, warp);
}

// mma.

float to_float(Element16 element, std::uint32_t bits) {
  switch (element) {
    case Element16::f16:
      return arith::f16_to_f32(static_cast<std::uint16_t>(bits));
    case Element16::bf16:
      return arith::bf16_to_f32(static_cast<std::uint16_t>(bits));
    case Element16::tf32:
      return arith::tf32_operand(bits);
    case Element16::f32:
      return arith::float_of(bits);
  }
  return 0;
}

/// A fragment as a dense row-major matrix.
template <class T, class Convert>
std::vector<T> gather(Warp& warp, std::uint32_t list, const Fragment& fragment, Convert convert) {
  std::vector<T> matrix(fragment.elements());
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned i = 0; i < fragment.per_lane(); ++i) {
      const Place place = place_of(fragment, lane, i);
      matrix[std::size_t{place.row} * fragment.columns + place.column] =
          convert(get_element(warp, list, fragment, lane, i));
    }
  }
  return matrix;
}

template <class T, class Convert>
void scatter(Warp& warp, std::uint32_t list, const Fragment& fragment, const std::vector<T>& matrix,
             Convert convert) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned i = 0; i < fragment.per_lane(); ++i) {
      const Place place = place_of(fragment, lane, i);
      set_element(warp, list, fragment, lane, i,
                  convert(matrix[std::size_t{place.row} * fragment.columns + place.column]));
    }
  }
}

/// What wmma.mma works on, from its option and immediate.
struct Product {
  Shape shape;
  Fragment a, b, c, d;
};

Product decode_product(const Lowered* in) {
  const auto bits = static_cast<std::uint64_t>(in->immediate);
  Product product;
  product.shape = {static_cast<unsigned>(bits & 63U), static_cast<unsigned>(bits >> 6 & 63U),
                   static_cast<unsigned>(bits >> 12 & 63U)};
  const auto input = static_cast<Element16>(bits >> 18 & 3U);
  const auto output = static_cast<Element16>(bits >> 22 & 3U);
  const auto addend = static_cast<Element16>(bits >> 24 & 3U);
  const Shape& s = product.shape;
  product.a = {s.m, s.k, input, (bits >> 20 & 1U) != 0};
  product.b = {s.k, s.n, input, (bits >> 21 & 1U) != 0};
  product.c = {s.m, s.n, addend, false};
  product.d = {s.m, s.n, output, false};
  return product;
}

/// Registers in the list: d, a, b, c. Everything is read before d is written, which may share their
/// slots.
const Lowered* multiply_tiles(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const Product p = decode_product(in);
  const std::uint32_t at_a = in->list + (in->option & 0xFFU);
  const std::uint32_t at_b = at_a + (in->option >> 8 & 0xFFU);
  const std::uint32_t at_c = at_b + (in->option >> 16 & 0xFFU);
  const auto widen = [&](std::uint32_t bits) { return to_float(p.a.element, bits); };
  const std::vector<float> a = gather<float>(warp, at_a, p.a, widen);
  const std::vector<float> b = gather<float>(warp, at_b, p.b, widen);
  const arith::TileShape shape{p.shape.m, p.shape.n, p.shape.k};
  if (p.c.element == Element16::f16 && p.d.element == Element16::f16) {
    const auto c = gather<std::uint16_t>(
        warp, at_c, p.c, [](std::uint32_t bits) { return static_cast<std::uint16_t>(bits); });
    std::vector<std::uint16_t> d(c.size());
    arith::tile_product_f16(shape, a, b, c, d);
    scatter(warp, in->list, p.d, d, [](std::uint16_t bits) { return std::uint32_t{bits}; });
    return in + 1;
  }
  const std::vector<float> c = gather<float>(
      warp, at_c, p.c, [&](std::uint32_t bits) { return to_float(p.c.element, bits); });
  std::vector<float> d(c.size());
  arith::tile_product(shape, a, b, c, d);
  scatter(warp, in->list, p.d, d, [&](float value) {
    return p.d.element == Element16::f16 ? std::uint32_t{arith::f32_to_f16(value)}
                                         : arith::bits_of(value);
  });
  return in + 1;
}

// Building.

std::optional<Shape> shape_of(const std::string& modifier) {
  if (modifier == "m16n16k16") return Shape{16, 16, 16};
  if (modifier == "m32n8k16") return Shape{32, 8, 16};
  if (modifier == "m8n32k16") return Shape{8, 32, 16};
  if (modifier == "m16n16k8") return Shape{16, 16, 8};
  return std::nullopt;
}

std::optional<Element16> element_of(const std::string& modifier) {
  if (modifier == "f16") return Element16::f16;
  if (modifier == "bf16") return Element16::bf16;
  if (modifier == "tf32") return Element16::tf32;
  if (modifier == "f32") return Element16::f32;
  return std::nullopt;
}

struct TileForm {
  Shape shape;
  std::vector<bool> by_column;      ///< layouts in the order written
  std::vector<Element16> elements;  ///< types in the order written
  TileSpace space = kGeneric;
  char matrix = 0;        ///< a, b, c or d of a load or store
  std::string operation;  ///< "load", "store", "mma"
};

TileForm parse_tile(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  TileForm form;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "load" || modifier == "store" || modifier == "mma") {
      form.operation = modifier;
    } else if (modifier == "row" || modifier == "col") {
      form.by_column.push_back(modifier == "col");
    } else if (const auto shape = shape_of(modifier)) {
      form.shape = *shape;
    } else if (const auto element = element_of(modifier)) {
      form.elements.push_back(*element);
    } else if (modifier == "global") {
      form.space = kGlobal;
    } else if (modifier == "shared" || modifier == "shared::cta") {
      form.space = kShared;
    } else if (modifier.size() == 1 && modifier[0] >= 'a' && modifier[0] <= 'd') {
      form.matrix = modifier[0];
    } else if (modifier != "sync" && modifier != "aligned") {
      builder.refuse(instruction.spelling());
    }
  }
  if (form.shape.m == 0 || form.operation.empty()) builder.refuse(instruction.spelling());
  return form;
}

/// Whether PTX has tiles of this shape with A and B of this type.
bool has_input(const Shape& shape, Element16 input) {
  if (input == Element16::tf32) return shape.k == 8;
  return input != Element16::f32 && shape.k == 16;
}
bool has_accumulator(const Shape& shape, Element16 element) {
  return element == Element16::f32 || (element == Element16::f16 && shape.k == 16);
}

/// The registers of a fragment. PTX gives f16 A and B tiles eight registers in every shape; those
/// that their elements do not need stay unused.
std::vector<Ref> fragment_registers(KernelBuilder& builder, std::size_t operand,
                                    const Fragment& fragment, bool is_input, bool writes) {
  std::vector<Ref> refs =
      writes ? builder.destinations(operand, 'i') : builder.sources(operand, 'i');
  const bool has_eight = is_input && fragment.element == Element16::f16;
  if (refs.size() != (has_eight ? 8 : fragment.registers())) {
    builder.refuse(builder.instruction().spelling() + " with " + std::to_string(refs.size()) +
                   " registers");
  }
  return refs;
}

void build_tile_move(KernelBuilder& builder, const TileForm& form) {
  const bool load = form.operation == "load";
  if (form.by_column.size() != 1 || form.elements.size() != 1 || form.matrix == 0) {
    builder.refuse(builder.instruction().spelling());
  }
  const Shape& s = form.shape;
  const bool is_input = form.matrix == 'a' || form.matrix == 'b';
  const bool is_known =
      is_input ? load && has_input(s, form.elements[0])
               : form.matrix == (load ? 'c' : 'd') && has_accumulator(s, form.elements[0]);
  if (!is_known) builder.refuse(builder.instruction().spelling());
  const bool by_column = form.by_column[0];
  Fragment fragment{s.m, s.n, form.elements[0], false};
  if (form.matrix == 'a') fragment = {s.m, s.k, form.elements[0], by_column};
  if (form.matrix == 'b') fragment = {s.k, s.n, form.elements[0], by_column};
  const std::size_t address_at = load ? 1 : 0;
  Address address =
      builder.address(address_at, form.space == kShared ? ptx::Space::shared : ptx::Space::generic);
  if (form.space == kShared) {
    const Ref wide = builder.new_register(SlotKind::pair);
    Pending& widen = builder.emit_hidden(hidden::kWiden);
    widen.a = address.base;
    widen.dst = wide;
    address.base = wide;
  }
  const Ref stride = builder.operand_count() > 2
                         ? builder.source(std::size_t{2}, 'i')
                         : builder.constant(by_column ? fragment.rows : fragment.columns, 4);
  const std::vector<Ref> refs = fragment_registers(builder, load ? 0 : 1, fragment, is_input, load);
  using enum InstructionClass;
  const InstructionClass cls = form.space == kShared   ? (load ? shared_load : shared_store)
                               : form.space == kGlobal ? (load ? global_load : global_store)
                                                       : generic_access;
  Pending& pending = builder.emit(
      load ? &move_tile<AccessKind::load> : &move_tile<AccessKind::store>, {.cls = cls});
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.b = stride;
  pending.option = encode(fragment, by_column, form.space);
  pending.is_memory = true;
  pending.access_bytes = fragment.per_lane() * bytes_of(fragment.element);
  (load ? pending.outs : pending.ins) = refs;
}

void build_product(KernelBuilder& builder, const TileForm& form) {
  const ptx::Instruction& instruction = builder.instruction();
  // Types: d.c for f16 inputs, d.a.b.c for the others.
  const std::vector<Element16>& types = form.elements;
  if (form.by_column.size() != 2 || (types.size() != 2 && types.size() != 4) ||
      builder.operand_count() != 4) {
    builder.refuse(instruction.spelling());
  }
  const Element16 input = types.size() == 2 ? Element16::f16 : types[1];
  const Element16 output = types.front();
  const Element16 addend = types.back();
  const Shape& s = form.shape;
  const bool is_f16 = types.size() == 2;
  const bool inputs_known =
      has_input(s, input) && (is_f16 || (types[1] == types[2] && input != Element16::f16));
  const bool sums_known = is_f16 ? has_accumulator(s, output) && has_accumulator(s, addend)
                                 : output == Element16::f32 && addend == Element16::f32;
  if (!inputs_known || !sums_known) builder.refuse(instruction.spelling());
  const std::vector<Ref> d = fragment_registers(builder, 0, {s.m, s.n, output, false}, false, true);
  const std::vector<Ref> a =
      fragment_registers(builder, 1, {s.m, s.k, input, form.by_column[0]}, true, false);
  const std::vector<Ref> b =
      fragment_registers(builder, 2, {s.k, s.n, input, form.by_column[1]}, true, false);
  const std::vector<Ref> c =
      fragment_registers(builder, 3, {s.m, s.n, addend, false}, false, false);
  const ptx::Type type = input == Element16::f16    ? ptx::Type::f16
                         : input == Element16::bf16 ? ptx::Type::bf16
                                                    : ptx::Type::tf32;
  Pending& pending = builder.emit(
      &multiply_tiles,
      {.cls = InstructionClass::tensor, .flop_type = type, .flops = 2 * s.m * s.n * s.k});
  pending.outs = d;
  pending.ins = a;
  pending.ins.insert(pending.ins.end(), b.begin(), b.end());
  pending.ins.insert(pending.ins.end(), c.begin(), c.end());
  pending.option = static_cast<std::uint32_t>(d.size() | a.size() << 8 | b.size() << 16);
  pending.immediate = static_cast<std::int64_t>(
      s.m | s.n << 6 | s.k << 12 | static_cast<unsigned>(input) << 18 |
      static_cast<unsigned>(form.by_column[0]) << 20 |
      static_cast<unsigned>(form.by_column[1]) << 21 | static_cast<unsigned>(output) << 22 |
      static_cast<unsigned>(addend) << 24);
}

void build_wmma(KernelBuilder& builder) {
  const TileForm form = parse_tile(builder);
  if (form.operation == "mma") {
    build_product(builder, form);
  } else {
    build_tile_move(builder, form);
  }
}

}  // namespace

std::vector<BuiltOpcode> built_tensor() {
  const std::string shape = " sync aligned m16n16k16|m32n8k16|m8n32k16|m16n16k8 row|col";
  const std::string space = " [global|shared|shared::cta]";
  const std::string type = " f16|bf16|tf32|f32";
  const std::string product = "mma" + shape + " row|col" + type + type;
  return {{"wmma",
           build_wmma,
           {"load a|b|c" + shape + space + type, "store d" + shape + space + type, product,
            product + type + type}}};
}

}  // namespace simgpu
