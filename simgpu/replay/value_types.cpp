#include "simgpu/replay/value_types.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace simgpu::replay {
namespace {

/// The types that an instruction's name ends in: "cvt.rn.f32.s32" has two, its result's first.
std::vector<std::string_view> type_words(std::string_view spelling) {
  std::vector<std::string_view> words;
  while (!spelling.empty()) {
    const std::size_t dot = spelling.find('.');
    const std::string_view word = spelling.substr(0, dot);
    const bool is_type = word.size() >= 2 && word.size() <= 4 &&
                         std::string_view("bfsu").find(word[0]) != std::string_view::npos &&
                         word[1] >= '1' && word[1] <= '9';
    if (is_type || word == "pred") words.push_back(word);
    spelling = dot == std::string_view::npos ? std::string_view() : spelling.substr(dot + 1);
  }
  return words;
}

ValueType type_named(std::string_view word) {
  if (word == "f16") return ValueType::f16;
  if (word == "f32") return ValueType::f32;
  if (word == "f64") return ValueType::f64;
  if (word == "s64") return ValueType::s64;
  if (word == "u64") return ValueType::u64;
  if (word == "s32" || word == "s16" || word == "s8") return ValueType::s32;
  if (word == "u32" || word == "u16" || word == "u8") return ValueType::u32;
  return ValueType::unknown;
}

bool is_wide(ValueType type) {
  return type == ValueType::f64 || type == ValueType::s64 || type == ValueType::u64;
}

bool is_float(ValueType type) {
  return type == ValueType::f16 || type == ValueType::f32 || type == ValueType::f64;
}

class Types {
 public:
  explicit Types(const LoweredKernel& kernel)
      : kernel_(kernel), types_(kernel.registers.size(), ValueType::unknown) {}

  std::vector<ValueType> find() {
    for (std::size_t i = 0; i < kernel_.code.size(); ++i) take_results(i);
    for (std::size_t i = 0; i < kernel_.code.size(); ++i) take_operands(i);
    // Copies at the end of a loop may go round it.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < kernel_.code.size(); ++i) pass_on(i);
    }
    for (std::size_t reg = 0; reg < types_.size(); ++reg) {
      if (kernel_.registers[reg].slot.bytes == kPredicateBytes) types_[reg] = ValueType::predicate;
    }
    return std::move(types_);
  }

 private:
  const InstructionInfo& info(std::size_t i) const { return kernel_.info.instructions[i]; }

  bool fits(std::uint32_t reg, ValueType type) const {
    if (reg >= types_.size() || type == ValueType::unknown) return false;
    const std::uint32_t bytes = kernel_.registers[reg].slot.bytes;
    return bytes != kPredicateBytes && is_wide(type) == (bytes == kWideBytes);
  }

  void set(std::uint32_t reg, ValueType type) {
    if (fits(reg, type) && types_[reg] == ValueType::unknown) types_[reg] = type;
  }

  void take_results(std::size_t i) {
    const auto words = type_words(kernel_.spellings[i]);
    if (words.empty() || info(i).cls == InstructionClass::tensor) return;
    const bool converts = std::string_view(kernel_.spellings[i]).starts_with("cvt");
    const ValueType type = type_named(converts ? words.front() : words.back());
    for (const std::uint32_t reg : info(i).writes) set(reg, type);
  }

  /// Arithmetic of one type says what its operands are; of integers both signs are the same
  /// instruction for the most part, so that floats come first.
  void take_operands(std::size_t i) {
    const InstructionClass cls = info(i).cls;
    const bool computes = cls == InstructionClass::fp32 || cls == InstructionClass::fp64 ||
                          cls == InstructionClass::integer || cls == InstructionClass::special ||
                          cls == InstructionClass::conversion;
    const auto words = type_words(kernel_.spellings[i]);
    if (!computes || words.empty()) return;
    const ValueType type = type_named(words.back());
    for (const std::uint32_t reg : info(i).reads) set(reg, type);
  }

  /// What only moves has one type on both sides.
  void pass_on(std::size_t i) {
    const std::string_view spelling = kernel_.spellings[i];
    const bool moves = spelling.starts_with("mov.b") || spelling.starts_with("mov.u") ||
                       spelling.starts_with("selp.b") || spelling.starts_with("shfl");
    if (!moves || info(i).writes.size() != 1) return;
    const std::uint32_t result = info(i).writes.front();
    const std::size_t operands = spelling.starts_with("selp") ? 2 : 1;
    for (std::size_t k = 0; k < operands; ++k) {
      const std::uint32_t from = info(i).operands.at(k);
      if (from >= types_.size() || result >= types_.size()) continue;
      if (is_float(types_[from]) || types_[result] == ValueType::unknown) set(result, types_[from]);
      if (types_[from] == ValueType::unknown) set(from, types_[result]);
    }
  }

  const LoweredKernel& kernel_;
  std::vector<ValueType> types_;
};

}  // namespace

std::vector<ValueType> value_types(const LoweredKernel& kernel) { return Types(kernel).find(); }

}  // namespace simgpu::replay
