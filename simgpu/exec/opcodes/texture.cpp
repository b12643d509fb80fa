#include "simgpu/exec/texture_unit.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "simgpu/exec/memory_access.h"
#include "simgpu/exec/opcodes/opcode.h"

/// tex, suld.b and sust.b: texture and surface objects, whose handles lie in registers.
namespace simgpu {
namespace {

enum class Geometry : std::uint8_t { d1, d2, d3, a1, a2, cube, cube_array };

const std::map<std::string, Geometry>& geometries() {
  using enum Geometry;
  static const std::map<std::string, Geometry> kTable{
      {"1d", d1},  {"2d", d2},     {"3d", d3},           {"a1d", a1},
      {"a2d", a2}, {"cube", cube}, {"acube", cube_array}};
  return kTable;
}

/// How many coordinates count, a layer's number included; PTX fills up to 2 or 4.
unsigned coordinate_count(Geometry geometry) {
  switch (geometry) {
    case Geometry::d1:
      return 1;
    case Geometry::d2:
    case Geometry::a1:
      return 2;
    case Geometry::cube_array:
      return 4;
    default:
      return 3;
  }
}

bool has_layers(Geometry geometry) {
  return geometry == Geometry::a1 || geometry == Geometry::a2 || geometry == Geometry::cube_array;
}

/// Fields of Lowered::option.
constexpr std::uint32_t kGeometryMask = 7;
constexpr std::uint32_t kIntegerCoordinates = 8;
constexpr std::uint32_t kClamp = 16, kZero = 32;  ///< of surfaces; neither: outside is a fault
constexpr unsigned kBytesShift = 8;               ///< of a surface's element
constexpr unsigned kCountShift = 16;              ///< of a surface's registers
constexpr unsigned kResults = 4;                  ///< of tex

Geometry geometry_of(const Lowered* in) {
  return static_cast<Geometry>(in->option & kGeometryMask);
}

/// @param first of the coordinates in the instruction's list
std::uint32_t coordinate(const Lowered* in, const Warp& warp, unsigned first, unsigned number,
                         unsigned lane) {
  return slot<std::uint32_t>(const_cast<Warp&>(warp), warp.lists[in->list + first + number])[lane];
}

[[noreturn]] void fail_image(const Lowered* in, const Warp& warp, unsigned lane, bool surface,
                             const std::string& message) {
  warp.block->failures.fail(in, warp, lane,
                            {.code = "RL0201",
                             .message = message,
                             .action = surface ? "uses a surface" : "reads a texture"});
}

/// The image behind lane's handle, whose memory is there.
const Image& image_of(const Lowered* in, const Warp& warp, unsigned lane, bool surface) {
  const std::uint64_t handle = addresses64(const_cast<Warp&>(warp), in->a)[lane];
  DeviceMemory& memory = warp.block->launch.memory;
  const Image* image = memory.images().find(handle);
  const char* what = surface ? "surface" : "texture";
  if (image == nullptr || (image->is_surface != 0) != surface) {
    fail_image(in, warp, lane, surface,
               "The handle " + std::to_string(handle) + " is no " + what +
                   " object: it was never made, or destroyed before");
  }
  if (memory.find(image->address, image->bytes()) == nullptr) {
    fail_image(in, warp, lane, surface,
               std::string("The memory behind a ") + what + " object was freed");
  }
  return *image;
}

/// Lanes with the same handle as the first of `left`.
std::uint32_t same_handle(const Lowered* in, Warp& warp, std::uint32_t left) {
  const std::uint64_t* const handles = addresses64(warp, in->a);
  const std::uint64_t handle = handles[std::countr_zero(left)];
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    lanes |= static_cast<std::uint32_t>(handles[lane] == handle) << lane;
  }
  return lanes;
}

/// Counts and checks one access to elements of an image, which are known to be there.
/// @param fetching lanes for which the texture units work; of those, `mask` read an element
void touch(const Lowered* in, Warp& warp, AccessKind kind, unsigned bytes, std::uint32_t fetching,
           std::uint32_t mask, const LaneAddresses& addresses, const std::uint8_t* values) {
  if (mask == 0) return;
  ThreadBlock& block = *warp.block;
  if (kind == AccessKind::load) warp.begin_load(in);
  const WarpAccess access{.kind = kind,
                          .bytes = static_cast<std::uint8_t>(bytes),
                          .warp = warp.index,
                          .pc = in->index,
                          .mask = mask,
                          .address = &addresses,
                          .values = values,
                          .texture_lanes = static_cast<std::uint8_t>(std::popcount(fetching)),
                          .slots = warp.slots,
                          .time = warp.time()};
  if (in->result_use != ResultUse::never) block.traffic.global(access);
  if (kind != AccessKind::load && block.launch.undo) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const std::uint64_t address = addresses[static_cast<unsigned>(std::countr_zero(left))];
      block.launch.memory.save_page(address);
      block.launch.memory.save_page(address + bytes - 1);
    }
  }
  if (BlockCheckers* checkers = block.checkers.get()) checkers->global(access);
}

TexturePosition position_of(const Lowered* in, const Warp& warp, const Image& image,
                            unsigned lane) {
  const Geometry geometry = geometry_of(in);
  TexturePosition position;
  position.has_integers = (in->option & kIntegerCoordinates) != 0;
  unsigned next = 0;
  std::uint32_t layer = 0;
  if (has_layers(geometry)) layer = coordinate(in, warp, kResults, next++, lane);
  const unsigned axes = coordinate_count(geometry) - next;
  for (unsigned axis = 0; axis < axes; ++axis) {
    const std::uint32_t bits = coordinate(in, warp, kResults, next++, lane);
    position.element[axis] = static_cast<std::int32_t>(bits);
    position.at[axis] = std::bit_cast<float>(bits);
  }
  const bool cube = geometry == Geometry::cube || geometry == Geometry::cube_array;
  const std::uint32_t slices = cube ? image.depth / 6 : image.depth;
  layer = std::min(layer, std::max(slices, 1u) - 1);
  if (cube) {
    const CubePlace place = cube_place(position.at[0], position.at[1], position.at[2]);
    // On a face 0 to 1 is always all of it.
    const bool normalized = image.normalized_coordinates != 0;
    position.at = {normalized ? place.s : place.s * static_cast<float>(image.width),
                   normalized ? place.t : place.t * static_cast<float>(image.height), 0};
    position.dimensions = 2;
    position.slice = layer * 6 + place.face;
  } else {
    position.dimensions = axes;
    position.slice = layer;
  }
  return position;
}

void put_texture_value(const Lowered* in, Warp& warp, unsigned lane, const TextureValue& value) {
  for (unsigned i = 0; i < kResults; ++i) {
    slot<std::uint32_t>(warp, warp.lists[in->list + i])[lane] = value.bits[i];
  }
}

/// Of an image that is not linear: one element for each lane.
void fetch_nearest(const Lowered* in, Warp& warp, std::uint32_t group, const Image& image) {
  LaneAddresses addresses{};
  std::uint32_t reading = 0;
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const Tap tap = nearest_tap(image, position_of(in, warp, image, lane));
    if (tap.outside) continue;
    addresses[lane] = image.address + tap.offset;
    reading |= 1u << lane;
  }
  touch(in, warp, AccessKind::load, image.element_bytes(), group, reading, addresses, nullptr);
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const bool reads = (reading >> lane & 1) != 0;
    put_texture_value(
        in, warp, lane,
        value_of(image, reads ? warp.block->launch.memory.host(addresses[lane]) : nullptr));
  }
}

/// Fetches for the lanes `group`, whose image is the same.
void fetch(const Lowered* in, Warp& warp, std::uint32_t group) {
  const auto leader = static_cast<unsigned>(std::countr_zero(group));
  const Image& image = image_of(in, warp, leader, false);
  if (image.linear == 0) {
    fetch_nearest(in, warp, group, image);
    return;
  }
  std::array<Taps, kWarpSize> taps;
  std::array<std::array<TextureValue, 8>, kWarpSize> values;
  unsigned most = 0;
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    taps[lane] = taps_of(image, position_of(in, warp, image, lane));
    most = std::max(most, taps[lane].count);
  }
  for (unsigned i = 0; i < most; ++i) {
    LaneAddresses addresses{};
    std::uint32_t reading = 0;
    for (std::uint32_t left = group; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const Tap& tap = taps[lane].tap[i];
      addresses[lane] = image.address + tap.offset;
      if (!tap.outside) reading |= 1u << lane;
      values[lane][i] =
          value_of(image, tap.outside ? nullptr : warp.block->launch.memory.host(addresses[lane]));
    }
    // Elements of one filtered value are fetched at once.
    const std::uint32_t fetching = i == 0 ? group : 0;
    touch(in, warp, AccessKind::load, image.element_bytes(), fetching, reading, addresses, nullptr);
  }
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    put_texture_value(in, warp, lane, blend(image, taps[lane], values[lane]));
  }
}

const Lowered* tex(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0;) {
    const std::uint32_t group = same_handle(in, warp, left);
    fetch(in, warp, group);
    left &= ~group;
  }
  return after_global(in, warp);
}

// Surfaces.

/// Where a lane's access lies in the image; false: outside, and it does nothing.
bool place_of(const Lowered* in, const Warp& warp, const Image& image, unsigned first,
              unsigned bytes, unsigned lane, std::uint64_t* offset) {
  const Geometry geometry = geometry_of(in);
  std::array<std::int64_t, 3> at{};  // x in bytes, y, slice
  unsigned next = 0;
  if (has_layers(geometry)) {
    at[2] = static_cast<std::int32_t>(coordinate(in, warp, first, next++, lane));
  }
  for (unsigned axis = 0; next < coordinate_count(geometry); ++axis) {
    at[axis] = static_cast<std::int32_t>(coordinate(in, warp, first, next++, lane));
  }
  const std::array<std::int64_t, 3> last{
      static_cast<std::int64_t>(image.width) * image.element_bytes() - bytes,
      static_cast<std::int64_t>(image.height) - 1, static_cast<std::int64_t>(image.depth) - 1};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool inside = at[axis] >= 0 && at[axis] <= last[axis];
    if (inside) continue;
    if ((in->option & kZero) != 0) return false;
    if ((in->option & kClamp) == 0 || last[axis] < 0) {
      fail_image(in, warp, lane, true,
                 "A surface access is out of bounds: byte " + std::to_string(at[0]) + " of row " +
                     std::to_string(at[1]) + " of slice " + std::to_string(at[2]) +
                     ", and there are " + std::to_string(last[0] + bytes) + " bytes in " +
                     std::to_string(image.height) + " rows and " + std::to_string(image.depth) +
                     " slices");
    }
    at[axis] = std::clamp<std::int64_t>(at[axis], 0, last[axis]);
  }
  if (at[0] % bytes != 0) {
    warp.block->failures.fail(
        in, warp, lane,
        {.code = "RL0204",
         .message = "A surface access must be at a multiple of its size; x counts bytes",
         .action = "uses a surface"});
  }
  *offset = static_cast<std::uint64_t>(at[2]) * image.slice_pitch +
            static_cast<std::uint64_t>(at[1]) * image.pitch + static_cast<std::uint64_t>(at[0]);
  return true;
}

/// Moves `count` registers between lanes and memory.
template <AccessKind kKind>
void move(const Lowered* in, Warp& warp, std::uint32_t group) {
  constexpr bool kLoads = kKind == AccessKind::load;
  const unsigned bytes = in->option >> kBytesShift & 0xFF, count = in->option >> kCountShift;
  const auto leader = static_cast<unsigned>(std::countr_zero(group));
  const Image& image = image_of(in, warp, leader, true);
  const unsigned all = bytes * count;
  LaneAddresses addresses{};
  std::uint32_t inside = 0;
  std::array<std::uint8_t, std::size_t{kWarpSize} * 16> stored{};
  const auto reg = [&](unsigned i, unsigned lane) {
    return warp.regs + warp.lists[in->list + i] + std::size_t{lane} * (bytes == 8 ? 8 : 4);
  };
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::uint64_t offset = 0;
    if (!place_of(in, warp, image, count, all, lane, &offset)) continue;
    inside |= 1u << lane;
    addresses[lane] = image.address + offset;
    for (unsigned i = 0; !kLoads && i < count; ++i) {
      std::memcpy(&stored[std::size_t{lane} * all + std::size_t{i} * bytes], reg(i, lane), bytes);
    }
  }
  touch(in, warp, kKind, all, inside, inside, addresses, kLoads ? nullptr : stored.data());
  for (std::uint32_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const bool here = (inside >> lane & 1) != 0;
    if (!kLoads && !here) continue;
    std::byte* const at = here ? warp.block->launch.memory.host(addresses[lane]) : nullptr;
    if constexpr (kLoads) {
      for (unsigned i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        if (here) std::memcpy(&value, at + std::size_t{i} * bytes, bytes);
        std::memcpy(reg(i, lane), &value, bytes == 8 ? 8 : 4);
      }
    } else {
      std::memcpy(at, &stored[std::size_t{lane} * all], all);
    }
  }
}

template <AccessKind kKind>
const Lowered* surface(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0;) {
    const std::uint32_t group = same_handle(in, warp, left);
    move<kKind>(in, warp, group);
    left &= ~group;
  }
  return after_global(in, warp);
}

// Building.

Geometry named_geometry(const ptx::Instruction& instruction) {
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto found = geometries().find(modifier); found != geometries().end()) {
      return found->second;
    }
  }
  return Geometry::d1;
}

/// The handle and coordinates of [handle, {x, y …}].
struct ImageOperand {
  Ref handle;
  std::vector<Ref> coordinates;
};

ImageOperand image_operand(KernelBuilder& builder, std::size_t number, Geometry geometry,
                           char layer_kind, char kind) {
  const ptx::Instruction& instruction = builder.instruction();
  const ptx::Operand& operand = instruction.operands.at(number);
  const unsigned count = coordinate_count(geometry);
  // A further operand before the coordinates would be a sampler; a name would be a texture
  // reference, which CUDA 12 has done away with.
  const bool plain = operand.kind == ptx::Operand::Kind::address && operand.offset == 0 &&
                     operand.elements.size() >= 1 + count && operand.elements.size() <= 5 &&
                     !std::holds_alternative<ptx::Symbol>(operand.elements.front());
  if (!plain) builder.refuse(instruction.spelling() + " with other operands");
  ImageOperand image;
  image.handle = builder.source(operand.elements.front(), 'l');
  for (unsigned i = 0; i < count; ++i) {
    const bool layer = i == 0 && has_layers(geometry);
    image.coordinates.push_back(builder.source(operand.elements[1 + i], layer ? layer_kind : kind));
  }
  return image;
}

void build_tex(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const Geometry geometry = named_geometry(instruction);
  const bool integers = instruction.modifiers.back() == "s32";
  const bool cube = geometry == Geometry::cube || geometry == Geometry::cube_array;
  if (builder.operand_count() != 2 || builder.width(0) != kResults || (cube && integers)) {
    builder.refuse(instruction.spelling() + " with other operands");
  }
  const bool floats = instruction.modifiers[instruction.modifiers.size() - 2] == "f32";
  const ImageOperand image = image_operand(builder, 1, geometry, 'i', integers ? 'i' : 'f');
  const std::vector<Ref> results = builder.destinations(0, floats ? 'f' : 'i');
  Pending& pending = builder.emit(&tex, {.cls = InstructionClass::global_load});
  pending.a = image.handle;
  pending.outs = results;
  pending.ins = image.coordinates;
  pending.option = static_cast<std::uint32_t>(geometry) | (integers ? kIntegerCoordinates : 0);
  pending.is_memory = true;
  pending.access_bytes = 4;
  pending.reads_unchanged = true;
}

void build_surface(KernelBuilder& builder, bool load) {
  const ptx::Instruction& instruction = builder.instruction();
  const Geometry geometry = named_geometry(instruction);
  const unsigned count = instruction.has("v4") ? 4 : instruction.has("v2") ? 2 : 1;
  const unsigned bytes = instruction.has("b8")    ? 1
                         : instruction.has("b16") ? 2
                         : instruction.has("b32") ? 4
                                                  : 8;
  const std::size_t values = load ? 0 : 1;
  if (builder.operand_count() != 2 || builder.width(values) != count || bytes * count > 16) {
    builder.refuse(instruction.spelling() + " with other operands");
  }
  const ImageOperand image = image_operand(builder, load ? 1 : 0, geometry, 'i', 'i');
  const char kind = bytes == 8 ? 'l' : 'i';
  const std::vector<Ref> registers =
      load ? builder.destinations(values, kind) : builder.sources(values, kind);
  using enum InstructionClass;
  Pending& pending = builder.emit(load ? &surface<AccessKind::load> : &surface<AccessKind::store>,
                                  {.cls = load ? global_load : global_store});
  pending.a = image.handle;
  if (load) {
    pending.outs = registers;
    pending.ins = image.coordinates;
  } else {
    pending.ins = registers;
    pending.ins.insert(pending.ins.end(), image.coordinates.begin(), image.coordinates.end());
  }
  pending.option = static_cast<std::uint32_t>(geometry) | (instruction.has("clamp") ? kClamp : 0) |
                   (instruction.has("zero") ? kZero : 0) | bytes << kBytesShift |
                   count << kCountShift;
  pending.is_memory = true;
  pending.access_bytes = bytes * count;
}

void build_load(KernelBuilder& builder) { build_surface(builder, true); }
void build_store(KernelBuilder& builder) { build_surface(builder, false); }

}  // namespace

OpcodeFile texture_opcodes() {
  const char* const fetch = "1d|2d|3d|a1d|a2d|cube|acube v4 f32|s32|u32 f32|s32";
  const char* const access =
      "b 1d|2d|3d|a1d|a2d [ca|cg|cs|cv|wb|wt] [v2|v4] b8|b16|b32|b64 trap|clamp|zero";
  return {.built = {{"tex", build_tex, {fetch}},
                    {"suld", build_load, {access}},
                    {"sust", build_store, {access}}}};
}

}  // namespace simgpu
