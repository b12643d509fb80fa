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
    for (Step& step : recording_.steps) name(step);
  }

 private:
  struct File {
    std::optional<Assignments> assignments{};
    std::map<std::uint32_t, LineEffects> lines{};  ///< that were asked for
  };

  bool is_used(std::uint32_t file) const {
    return std::ranges::any_of(recording_.steps, [&](const Step& step) {
      return step.place != kNone && recording_.places[step.place].file == file;
    });
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

  void name(Step& step) {
    if (step.place == kNone) return;
    const Place& place = recording_.places[step.place];
    const auto file = files_.find(place.file);
    if (file == files_.end() || !file->second.assignments) return;
    const auto [known, is_new] = file->second.lines.try_emplace(place.line);
    if (is_new) known->second = file->second.assignments->of_line(place.line);
    const LineEffects& effects = known->second;
    std::set<std::string> unknown = effects.changed;
    if (effects.assigned && !is_unrolled(step, effects)) {
      const RegisterValues* const value = last_value(step, effects.type);
      if (value != nullptr) {
        unknown.erase(*effects.assigned);
        RegisterValues named = *value;
        named.name = number_of(place, *effects.assigned);
        named.type = shown_type(named.type, effects.type);
        step.registers.push_back(std::move(named));
      }
    }
    for (const std::string& changed : unknown) {
      step.unknown_now.push_back(number_of(place, changed));
    }
  }

  /// Several iterations are one step, of which nobody knows which one came last.
  static bool is_unrolled(const Step& step, const LineEffects& effects) {
    const auto loads = std::ranges::count(step.accesses, Action::load, &Access::action);
    return effects.loads && static_cast<std::size_t>(loads) > *effects.loads;
  }

  static const RegisterValues* last_value(const Step& step, std::string_view type) {
    for (std::size_t i = step.registers.size(); i-- > 0;) {
      if (fits(step.registers[i].type, type)) return &step.registers[i];
    }
    return nullptr;
  }

  Recording& recording_;
  const SourceText& source_;
  std::map<std::uint32_t, File> files_;
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace

void name_values(Recording& recording, const SourceText& source) { Namer(recording, source).all(); }

}  // namespace simgpu::replay
