#include "simgpu/replay/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/replay/assignments.h"
#include "simgpu/replay/declarations.h"
#include "simgpu/replay/expressions.h"
#include "simgpu/replay/loop_counters.h"
#include "simgpu/replay/loops.h"

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
  Namer(Recording& recording, const SourceText& source)
      : recording_(recording),
        source_(source),
        counters_(recording, [this](std::uint32_t warp, unsigned lane, std::uint32_t place,
                                    const std::string& name) {
          return integer_named(warp, lane, place, name);
        }) {}

  void all() {
    for (std::uint32_t file = 0; file < recording_.files.size(); ++file) describe(file);
    // Which registers are counters of loops is known at the end of the steps: first of loops by
    // themselves, then of those that begin with another one's counter.
    const Recording unnamed = recording_;
    for (int round = 0; round < 2; ++round) {
      go_through();
      recording_ = unnamed;
      numbers_.clear();
      known_.clear();
      counters_.conclude([this](const std::string& name) {
        recording_.names.push_back(name);
        return static_cast<std::uint32_t>(recording_.names.size() - 1);
      });
    }
    go_through();
  }

 private:
  void go_through() {
    known_.resize(recording_.warps.size());
    for (std::uint32_t i = 0; i < recording_.warps.size(); ++i) {
      std::set<std::uint32_t> unknown;
      name_start(i, recording_.warps[i].registers, recording_.warps[i].left_out, unknown);
    }
    for (Step& step : recording_.steps) name(step);
  }

  struct File {
    std::optional<Assignments> assignments{};
    std::map<std::uint32_t, LineEffects> lines{};  ///< that were asked for
    std::map<std::string, std::optional<std::uint32_t>> constants{};
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
    const auto declarations = array_declarations(recording_.files[file], source_);
    for (std::uint32_t i = 0; i < recording_.launches(); ++i) {
      RecordedLaunch& launch = recording_.launch(i);
      describe_parameters(tokens, launch);
      for (SharedArray& array : launch.arrays) describe_array(declarations, array);
    }
    files_[file].constants = constants_of(tokens);
    const Assignments& assignments = files_[file].assignments.emplace(tokens);
    counters_.add_loops(file, counted_loops(assignments));
  }

  static void describe_parameters(const SourceTokens& tokens, RecordedLaunch& launch) {
    const auto parameters = parameters_of(tokens, bare_name(launch.kernel));
    if (parameters.size() != launch.parameters.size()) return;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      launch.parameters[i].name = parameters[i].name;
      launch.parameters[i].type = parameters[i].type;
    }
  }

  static void describe_array(const std::vector<ArrayDeclaration>& declarations,
                             SharedArray& array) {
    const auto declared = shared_array(declarations, array.name, array.bytes);
    if (!declared) return;
    array.element = declared->element;
    array.extents = declared->extents;
  }

  static std::string key_of(const Place& place, const std::string& name) {
    std::string key = name;
    for (const InlinedCall& call : place.inlined_at) {
      key += '\n' + call.function + ':' + std::to_string(call.line);
    }
    return key;
  }

  /// The same variable in one call: a number in Recording::names.
  std::uint32_t number_of(const Place& place, const std::string& name) {
    const auto [known, is_new] = numbers_.try_emplace(
        key_of(place, name), static_cast<std::uint32_t>(recording_.names.size()));
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
  std::optional<RegisterValues> named(std::uint32_t warp, const RegisterValues& value) {
    const LineEffects* const effects = effects_of(value.place);
    if (effects == nullptr || !effects->assigned || !fits(value.type, effects->type)) return {};
    if (!effects->expression.empty()) {
      if (!is_value_of(warp, *effects, value)) return {};
    } else {
      if (!value.is_last || (effects->loads && value.loads > *effects->loads)) return {};
    }
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

  /// Whether in each lane the value is what the line's expression has there.
  bool is_value_of(std::uint32_t warp, const LineEffects& effects, const RegisterValues& value) {
    const bool is_wide = effects.type == "long" || effects.type == "size_t";
    std::size_t next = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((value.lanes >> lane & 1U) == 0) continue;
      const std::uint64_t bits = value.values.at(next++);
      const auto expected = integer_value(effects.expression, [&](const std::string& name) {
        return integer_named(warp, lane, value.place, name);
      });
      if (!expected) return false;
      const auto wanted = static_cast<std::uint64_t>(*expected);
      const bool is_same =
          is_wide ? wanted == bits
                  : static_cast<std::uint32_t>(wanted) == static_cast<std::uint32_t>(bits);
      if (!is_same) return false;
    }
    return true;
  }

  std::optional<std::int64_t> integer_named(std::uint32_t warp, unsigned lane, std::uint32_t place,
                                            const std::string& name) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos && dot + 2 == name.size()) {
      return built_in(warp, lane, name.substr(0, dot), name[dot + 1]);
    }
    for (const Parameter& one : launch_of(warp).parameters) {
      if (one.name != name) continue;
      if (one.type != "int" && one.type != "unsigned") return std::nullopt;
      std::int32_t value = 0;
      if (one.bytes.size() != sizeof(value)) return std::nullopt;
      std::memcpy(&value, one.bytes.data(), sizeof(value));
      return one.type == "int" ? value
                               : static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
    }
    const auto& constants = files_[recording_.places[place].file].constants;
    if (const auto found = constants.find(name); found != constants.end()) {
      if (!found->second) return std::nullopt;
      return static_cast<std::int64_t>(*found->second);
    }
    std::uint32_t found = kNone;
    if (const auto* const counter = counters_.find(warp, place, name)) {
      found = counter->name;
    } else {
      const auto number = numbers_.find(key_of(recording_.places[place], name));
      if (number == numbers_.end()) return std::nullopt;
      found = number->second;
    }
    const auto known = known_[warp].find(found);
    return known == known_[warp].end() ? std::nullopt : known->second[lane];
  }

  const RecordedLaunch& launch_of(std::uint32_t warp) const {
    return recording_.launch(recording_.launch_of_warp(warp));
  }

  /// A component of threadIdx and the like.
  std::optional<std::int64_t> built_in(std::uint32_t warp, unsigned lane, const std::string& name,
                                       char axis) const {
    const auto component = [axis](const Dim3& value) -> std::optional<std::int64_t> {
      if (axis == 'x') return value.x;
      if (axis == 'y') return value.y;
      if (axis == 'z') return value.z;
      return std::nullopt;
    };
    const RecordedWarp& recorded = recording_.warps[warp];
    const Dim3& block = launch_of(warp).block;
    if (name == "blockDim") return component(block);
    if (name == "gridDim") return component(launch_of(warp).grid);
    if (name == "blockIdx") return component(recording_.blocks[recorded.block].index);
    if (name != "threadIdx" || block.x == 0 || block.y == 0) return std::nullopt;
    const std::uint32_t thread = recorded.warp * kLanes + lane;
    return component({thread % block.x, thread / block.x % block.y, thread / block.x / block.y});
  }

  /// Later lines may compute with it.
  void remember(std::uint32_t warp, const RegisterValues& value) {
    const bool is_signed = value.type == ValueType::s32;
    if (!is_signed && value.type != ValueType::u32) return;
    auto& lanes = known_[warp][value.name];
    std::size_t next = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((value.lanes >> lane & 1U) == 0) continue;
      const auto bits = static_cast<std::uint32_t>(value.values.at(next++));
      lanes[lane] = is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(bits))
                              : static_cast<std::int64_t>(bits);
    }
  }

  void name(Step& step) {
    std::set<std::uint32_t> unknown = changed_at(step.place);
    name_start(step.warp, step.before, step.left_out, unknown);
    const LineEffects* const effects = effects_of(step.place);
    if (effects != nullptr && effects->is_set_once) {
      unknown.erase(number_of(recording_.places[step.place], *effects->assigned));
    }
    for (const std::uint32_t one : unknown) known_[step.warp].erase(one);
    std::vector<RegisterValues> added;
    for (const RegisterValues& value : step.registers) {
      auto result = named(step.warp, value);
      if (!result) continue;
      unknown.erase(result->name);
      remember(step.warp, *result);
      added.push_back(*std::move(result));
    }
    for (const RegisterValues& value : step.registers) counters_.weigh(step.warp, value);
    take_over(step.warp, counters_.step(step), added, unknown);
    step.registers.insert(step.registers.end(), added.begin(), added.end());
    step.unknown_now.assign(unknown.begin(), unknown.end());
  }

  /// What becomes of the counters of loops.
  void take_over(std::uint32_t warp, LoopCounters::Change change,
                 std::vector<RegisterValues>& added, std::set<std::uint32_t>& unknown) {
    for (const std::uint32_t name : change.unknown) {
      known_[warp].erase(name);
      unknown.insert(name);
    }
    for (RegisterValues& value : change.named) {
      unknown.erase(value.name);
      remember(warp, value);
      added.push_back(std::move(value));
    }
  }

  /// What steps that were left out have written, unless a later one of them has changed it.
  /// @param unknown gets the names of loop counters whose loops the warp has left meanwhile
  void name_start(std::uint32_t warp, std::vector<RegisterValues>& values,
                  const std::vector<LeftOut>& left_out, std::set<std::uint32_t>& unknown) {
    std::map<std::uint32_t, std::uint64_t> changed;  // by name: the last step that did
    for (const LeftOut& one : left_out) {
      const LineEffects* const effects = effects_of(one.place);
      for (const std::uint32_t name : changed_at(one.place)) {
        const bool is_kept = effects->is_set_once &&
                             name == number_of(recording_.places[one.place], *effects->assigned);
        if (!is_kept) changed[name] = std::max(changed[name], one.number);
      }
    }
    for (const auto& [name, number] : changed) known_[warp].erase(name);
    std::vector<RegisterValues> added;
    for (const RegisterValues& value : values) {
      auto result = named(warp, value);
      if (!result) continue;
      const auto last = changed.find(result->name);
      const bool is_stale = last != changed.end() && last->second > value.number;
      if (is_stale) continue;
      remember(warp, *result);
      added.push_back(*std::move(result));
    }
    for (const RegisterValues& value : values) counters_.weigh(warp, value);
    if (!values.empty() || !left_out.empty()) {
      take_over(warp, counters_.skip(warp, values, left_out), added, unknown);
    }
    values.insert(values.end(), added.begin(), added.end());
  }

  Recording& recording_;
  const SourceText& source_;
  std::map<std::uint32_t, File> files_;
  std::map<std::string, std::uint32_t> numbers_;
  LoopCounters counters_;
  /// By warp and name: integers that are known, by lane.
  std::vector<std::map<std::uint32_t, std::array<std::optional<std::int64_t>, kLanes>>> known_;
};

}  // namespace

void name_values(Recording& recording, const SourceText& source) { Namer(recording, source).all(); }

}  // namespace simgpu::replay
