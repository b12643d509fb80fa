#include "simgpu/ptx/ast.h"

#include <algorithm>
#include <array>
#include <limits>

#include "simgpu/ptx/types.h"

namespace simgpu::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  unsigned bytes;
};

// In the order of the enumerators, so that a type is its own index.
constexpr std::array kTypes = {
    TypeRow{Type::none, "", 0},     TypeRow{Type::b8, "b8", 1},
    TypeRow{Type::b16, "b16", 2},   TypeRow{Type::b32, "b32", 4},
    TypeRow{Type::b64, "b64", 8},   TypeRow{Type::b128, "b128", 16},
    TypeRow{Type::u8, "u8", 1},     TypeRow{Type::u16, "u16", 2},
    TypeRow{Type::u32, "u32", 4},   TypeRow{Type::u64, "u64", 8},
    TypeRow{Type::s8, "s8", 1},     TypeRow{Type::s16, "s16", 2},
    TypeRow{Type::s32, "s32", 4},   TypeRow{Type::s64, "s64", 8},
    TypeRow{Type::f16, "f16", 2},   TypeRow{Type::f16x2, "f16x2", 4},
    TypeRow{Type::bf16, "bf16", 2}, TypeRow{Type::bf16x2, "bf16x2", 4},
    TypeRow{Type::tf32, "tf32", 4}, TypeRow{Type::e4m3, "e4m3", 1},
    TypeRow{Type::e5m2, "e5m2", 1}, TypeRow{Type::f32, "f32", 4},
    TypeRow{Type::f64, "f64", 8},   TypeRow{Type::pred, "pred", 1},
};

std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::uint64_t>::max();
  return product;
}

}  // namespace

unsigned size_of(Type type) { return kTypes.at(static_cast<std::size_t>(type)).bytes; }

std::string_view name_of(Type type) { return kTypes.at(static_cast<std::size_t>(type)).name; }

std::optional<Type> type_named(std::string_view name) {
  const auto* row = std::find_if(kTypes.begin() + 1, kTypes.end(),
                                 [&](const TypeRow& candidate) { return candidate.name == name; });
  if (row == kTypes.end()) return std::nullopt;
  return row->type;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::spelling() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) text.append(".").append(modifier);
  return text;
}

std::uint64_t Variable::size() const {
  std::uint64_t bytes = multiply_saturating(size_of(type), vector);
  for (const std::uint64_t dimension : dimensions) bytes = multiply_saturating(bytes, dimension);
  return bytes;
}

const Function* Module::find_function(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace simgpu::ptx
