#include "simgpu/replay/names.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/replay/assignments.h"
#include "simgpu/replay/declarations.h"

namespace simgpu::replay {
namespace {

constexpr std::size_t kMostTokens = 30'000;  ///< of a file that is looked at

/// "gemm_tiled" of "(anonymous namespace)::gemm_tiled<16>".
std::string bare_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  const std::size_t colon = kernel.rfind(':');
  return std::string(colon == std::string_view::npos ? kernel : kernel.substr(colon + 1));
}

bool fits(ValueType type, std::string_view declared) {
  if (declared == "float") return type == ValueType::f32;
  if (declared == "double") return type == ValueType::f64;
  const bool is_word = declared == "int" || declared == "unsigned";
  if (is_word) return type == ValueType::s32 || type == ValueType::u32;
  const bool is_wide = declared == "long" || declared == "size_t";
  return is_wide && (type == ValueType::s64 || type == ValueType::u64);
}

ValueType shown_type(ValueType type, std::string_view declared) {
  if (declared == "int") return ValueType::s32;
  if (declared == "unsigned") return ValueType::u32;
  return type;
}

/// Names what the steps of a recording write.
class Namer {
 public:
  Namer(Recording& recording, const SourceText& source) : recording_(recording), source_(source) {}

  void all() {
    for (std::uint32_t file = 0; file < recording_.files.size(); ++file) describe(file);
    for (RecordedWarp& warp : recording_.warps) name_start(warp.registers, warp.left_out);
    for (Step& step : recording_.steps) name(step);
  }

 private:
  struct File {
    std::optional<Assignments> assignments{};
    std::map<std::uint32_t, LineEffects> lines{};  ///< that were asked for
  };

  bool is_used(std::uint32_t file) const {
    return std::ranges::any_of(recording_.places,
                               [&](const Place& place) { return place.file == file; });
  }

  /// What its declarations say of the kernel's arguments and shared arrays.
  void describe(std::uint32_t file) {
    if (!is_used(file)) return;
    const std::optional<std::string> text = source_(recording_.files[file]);
    if (!text) return;
    const SourceTokens tokens = tokens_of(*text);
    if (tokens.renumbers_lines || tokens.tokens.size() > kMostTokens) return;
    const auto parameters = parameters_of(tokens, bare_name(recording_.kernel));
    if (parameters.size() == recording_.parameters.size()) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        recording_.parameters[i].name = parameters[i].name;
        recording_.parameters[i].type = parameters[i].type;
      }
    }
    for (SharedArray& array : recording_.arrays) describe_array(tokens, array);
    files_[file].assignments.emplace(tokens);
  }

  static void describe_array(const SourceTokens& tokens, SharedArray& array) {
    const auto declared = shared_array(tokens, array.name, array.bytes);
    if (!declared) return;
    array.element = declared->element;
    array.extents = declared->extents;
  }

  /// The same variable in one call: a number in Recording::names.
  std::uint32_t number_of(const Place& place, const std::string& name) {
    std::string key = name;
    for (const InlinedCall& call : place.inlined_at) {
      key += '\n' + call.function + ':' + std::to_string(call.line);
    }
    const auto [known, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(recording_.names.size()));
    if (is_new) recording_.names.push_back(name);
    return known->second;
  }

  /// What a line does; nullptr where its source is not known.
  const LineEffects* effects_of(std::uint32_t place_number) {
    if (place_number == kNone) return nullptr;
    const Place& place = recording_.places[place_number];
    const auto file = files_.find(place.file);
    if (file == files_.end() || !file->second.assignments) return nullptr;
    const auto [known, is_new] = file->second.lines.try_emplace(place.line);
    if (is_new) known->second = file->second.assignments->of_line(place.line);
    return &known->second;
  }

  /// The value as that of the variable which its line assigns; nothing where that is not certain.
  /// Several iterations of a loop in one step are not: nobody knows which one came last.
  std::optional<RegisterValues> named(const RegisterValues& value) {
    const LineEffects* const effects = value.is_last ? effects_of(value.place) : nullptr;
    if (effects == nullptr || !effects->assigned || !fits(value.type, effects->type)) return {};
    if (effects->loads && value.loads > *effects->loads) return {};
    RegisterValues result = value;
    result.name = number_of(recording_.places[value.place], *effects->assigned);
    result.type = shown_type(value.type, effects->type);
    return result;
  }

  /// Variables that have, behind a step at a place, values that nobody knows.
  std::set<std::uint32_t> changed_at(std::uint32_t place) {
    std::set<std::uint32_t> changed;
    const LineEffects* const effects = effects_of(place);
    if (effects == nullptr) return changed;
    for (const std::string& name : effects->changed) {
      changed.insert(number_of(recording_.places[place], name));
    }
    return changed;
  }

  void name(Step& step) {
    name_start(step.before, step.left_out);
    std::set<std::uint32_t> unknown = changed_at(step.place);
    std::vector<RegisterValues> added;
    for (const RegisterValues& value : step.registers) {
      auto result = named(value);
      if (!result) continue;
      unknown.erase(result->name);
      added.push_back(*std::move(result));
    }
    step.registers.insert(step.registers.end(), added.begin(), added.end());
    step.unknown_now.assign(unknown.begin(), unknown.end());
  }

  /// What steps that were left out have written, unless a later one of them has changed it.
  void name_start(std::vector<RegisterValues>& values, const std::vector<LeftOut>& left_out) {
    std::map<std::uint32_t, std::uint64_t> changed;  // by name: the last step that did
    for (const LeftOut& one : left_out) {
      for (const std::uint32_t name : changed_at(one.place)) {
        changed[name] = std::max(changed[name], one.number);
      }
    }
    std::vector<RegisterValues> added;
    for (const RegisterValues& value : values) {
      auto result = named(value);
      if (!result) continue;
      const auto last = changed.find(result->name);
      const bool is_stale = last != changed.end() && last->second > value.number;
      if (!is_stale) added.push_back(*std::move(result));
    }
    values.insert(values.end(), added.begin(), added.end());
  }

  Recording& recording_;
  const SourceText& source_;
  std::map<std::uint32_t, File> files_;
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace

void name_values(Recording& recording, const SourceText& source) { Namer(recording, source).all(); }

}  // namespace simgpu::replay
