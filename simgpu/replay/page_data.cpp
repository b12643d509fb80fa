#include "simgpu/replay/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace simgpu::replay {
namespace {

using nlohmann::json;

constexpr std::size_t kMostText = 600;     ///< bytes of a name or a sentence
constexpr std::size_t kMostColumns = 300;  ///< of a line of the source
constexpr std::uint32_t kMostLines = 800;  ///< of a file
constexpr std::uint32_t kAround = 8;       ///< lines before and behind those of steps

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most)) + "…";
}

json text_of(const std::string& text) { return cut(text, kMostText); }

json triple(const Dim3& value) { return {value.x, value.y, value.z}; }

/// kNone is -1 for the script.
json number_of(std::uint32_t number) { return number == kNone ? json(-1) : json(number); }

const char* name_of(ValueType type) {
  switch (type) {
    case ValueType::unknown:
      return "unknown";
    case ValueType::predicate:
      return "predicate";
    case ValueType::f16:
      return "f16";
    case ValueType::f32:
      return "f32";
    case ValueType::f64:
      return "f64";
    case ValueType::s32:
      return "s32";
    case ValueType::u32:
      return "u32";
    case ValueType::s64:
      return "s64";
    case ValueType::u64:
      return "u64";
  }
  return "unknown";
}

const char* name_of(Space space) {
  switch (space) {
    case Space::shared:
      return "shared";
    case Space::global:
      return "global";
    case Space::local:
      return "local";
  }
  return "global";
}

const char* name_of(Action action) {
  switch (action) {
    case Action::load:
      return "load";
    case Action::store:
      return "store";
    case Action::atomic:
      return "atomic";
    case Action::copy:
      return "copy";
    case Action::arrival:
      return "arrival";
  }
  return "load";
}

std::string hex(std::uint64_t value) { return fmt::format("{:x}", value); }

/// A first value and a step where that is what they are; hexadecimal, since numbers of JSON are
/// exact up to 53 bits alone.
json packed(const std::vector<std::uint64_t>& values) {
  const std::uint64_t step = values.size() > 1 ? values[1] - values[0] : 0;
  const auto irregular = [&](std::uint64_t a, std::uint64_t b) { return b - a != step; };
  if (!values.empty() && std::ranges::adjacent_find(values, irregular) == values.end()) {
    json even{{"b", hex(values.front())}};
    if (step != 0) even["d"] = hex(step);
    return even;
  }
  json all = json::array();
  for (const std::uint64_t value : values) all.push_back(hex(value));
  return {{"v", std::move(all)}};
}

json values_of(const std::vector<RegisterValues>& all) {
  json list = json::array();
  for (const RegisterValues& one : all) {
    list.push_back({{"reg", one.reg},
                    {"name", number_of(one.name)},
                    {"type", name_of(one.type)},
                    {"lanes", one.lanes},
                    {"values", packed(one.values)}});
  }
  return list;
}

json stores_of(const std::vector<SharedBytes>& all) {
  json list = json::array();
  for (const SharedBytes& one : all) {
    std::string bytes;
    for (const std::uint8_t byte : one.bytes) bytes += fmt::format("{:02x}", byte);
    list.push_back({{"first", one.first},
                    {"bytes", std::move(bytes)},
                    {"warp", number_of(one.warp)},
                    {"place", number_of(one.place)}});
  }
  return list;
}

json accesses_of(const std::vector<Access>& all) {
  json list = json::array();
  for (const Access& one : all) {
    list.push_back({{"space", name_of(one.space)},
                    {"action", name_of(one.action)},
                    {"bytes", one.bytes},
                    {"lanes", one.lanes},
                    {"at", packed(one.addresses)},
                    {"allocation", number_of(one.allocation)}});
  }
  return list;
}

json steps_of(const std::vector<Step>& all) {
  json list = json::array();
  for (const Step& one : all) {
    list.push_back({{"warp", one.warp},
                    {"number", one.number},
                    {"place", number_of(one.place)},
                    {"active", one.active},
                    {"exited", one.exited},
                    {"interval", one.interval},
                    {"barrier", one.is_barrier},
                    {"before", values_of(one.before)},
                    {"others", stores_of(one.others)},
                    {"registers", values_of(one.registers)},
                    {"shared", stores_of(one.shared)},
                    {"accesses", accesses_of(one.accesses)},
                    {"unknown", one.unknown_now}});
  }
  return list;
}

/// Files with the lines about those that steps are at; others are left empty.
json files_of(const Recording& recording, const SourceText& source) {
  struct Range {
    std::uint32_t first = ~0U, last = 0;
  };
  std::map<std::uint32_t, Range> used;
  for (const Step& step : recording.steps) {
    if (step.place == kNone) continue;
    const Place& place = recording.places[step.place];
    Range& range = used[place.file];
    range.first = std::min(range.first, place.line);
    range.last = std::max(range.last, place.line);
  }
  json files = json::array();
  for (std::uint32_t i = 0; i < recording.files.size(); ++i) {
    json lines = json::array();
    const auto range = used.find(i);
    std::uint32_t first = 1;
    if (range != used.end()) {
      first = range->second.first > kAround ? range->second.first - kAround : 1;
      const std::uint32_t last = std::min(range->second.last, first + kMostLines) + kAround;
      const std::string text = source(recording.files[i]).value_or("");
      std::size_t at = 0;
      for (std::uint32_t number = 1; number <= last && at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (number >= first) {
          lines.push_back(cut(std::string_view(text).substr(at, end - at), kMostColumns));
        }
        at = end + 1;
      }
    }
    const bool is_used = range != used.end();
    files.push_back({{"name", is_used ? text_of(recording.files[i]) : json("")},
                     {"first", first},
                     {"lines", std::move(lines)}});
  }
  return files;
}

json places_of(const Recording& recording) {
  json list = json::array();
  for (const Place& place : recording.places) {
    json calls = json::array();
    for (const InlinedCall& call : place.inlined_at) {
      calls.push_back({{"function", text_of(call.function)},
                       {"file", text_of(call.file)},
                       {"line", call.line}});
    }
    list.push_back({{"file", place.file}, {"line", place.line}, {"calls", std::move(calls)}});
  }
  return list;
}

/// A value of a type that C++ has, as far as it says how to read the bytes.
std::string value_of(const Parameter& parameter) {
  const std::string& type = parameter.type;
  const auto read = [&]<typename T>(T value) {
    std::memcpy(&value, parameter.bytes.data(), std::min(sizeof(T), parameter.bytes.size()));
    return value;
  };
  const bool is_pointer = type.find('*') != std::string::npos;
  if (is_pointer) return fmt::format("{:#x}", read(std::uint64_t{0}));
  if (type == "float") return fmt::format("{}", read(0.0F));
  if (type == "double") return fmt::format("{}", read(0.0));
  if (type == "int") return fmt::format("{}", read(std::int32_t{0}));
  if (type == "bool") return read(std::uint8_t{0}) != 0 ? "true" : "false";
  if (type == "unsigned") return fmt::format("{}", read(std::uint32_t{0}));
  if (type == "long") return fmt::format("{}", read(std::int64_t{0}));
  if (type == "size_t") return fmt::format("{}", read(std::uint64_t{0}));
  return {};
}

json parameters_of(const RecordedLaunch& launch) {
  json list = json::array();
  for (const Parameter& one : launch.parameters) {
    std::string value = value_of(one);
    if (one.name.empty() || value.empty()) continue;
    list.push_back({{"name", text_of(one.name)}, {"value", std::move(value)}});
  }
  return list;
}

/// The argument of a kernel that points to an allocation's beginning; empty where there is none.
json argument_for(const RecordedLaunch& launch, const RecordedAllocation& allocation) {
  for (const Parameter& one : launch.parameters) {
    std::uint64_t address = 0;
    if (one.name.empty() || one.bytes.size() != sizeof(address) || !one.type.ends_with("*")) {
      continue;
    }
    std::memcpy(&address, one.bytes.data(), sizeof(address));
    if (address != allocation.address) continue;
    return {{"name", text_of(one.name)},
            {"element", text_of(one.type.substr(0, one.type.size() - 1))}};
  }
  return {{"name", ""}, {"element", ""}};
}

/// With its name in each launch.
json allocation_of(const Recording& recording, const RecordedAllocation& allocation) {
  json names = json::array();
  for (std::uint32_t i = 0; i < recording.launches(); ++i) {
    names.push_back(argument_for(recording.launch(i), allocation));
  }
  return {{"label", text_of(allocation.label)},
          {"bytes", allocation.bytes},
          {"of_launch", std::move(names)}};
}

json launch_of(const RecordedLaunch& launch) {
  json arrays = json::array();
  for (const SharedArray& one : launch.arrays) {
    arrays.push_back({{"name", text_of(one.name)},
                      {"offset", one.offset},
                      {"bytes", one.bytes},
                      {"element", text_of(one.element)},
                      {"extents", one.extents}});
  }
  return {{"kernel", text_of(launch.kernel)},    {"grid", triple(launch.grid)},
          {"block", triple(launch.block)},       {"shared_bytes", launch.shared_bytes},
          {"parameters", parameters_of(launch)}, {"arrays", std::move(arrays)}};
}

json notes_of(const Recording& recording) {
  json notes = json::array();
  if (recording.begins_late) notes.push_back("Earlier steps are left out.");
  if (recording.launches() > 1) {
    notes.push_back(
        "Two launches that race are shown. The simulated GPU ran one after the other; nothing "
        "keeps a "
        "GPU from running them at the same time, or in the other order.");
  } else if (recording.ends_early) {
    notes.push_back("The kernel went on behind the last step.");
  }
  return notes;
}

json describe(const Recording& recording, const PageWords& words, const SourceText& source) {
  json launches = json::array(), allocations = json::array(), names = json::array();
  json blocks = json::array(), warps = json::array(), marks = json::array();
  json lines = json::array();
  for (std::uint32_t i = 0; i < recording.launches(); ++i) {
    launches.push_back(launch_of(recording.launch(i)));
  }
  for (const RecordedAllocation& one : recording.allocations) {
    allocations.push_back(allocation_of(recording, one));
  }
  for (const std::string& name : recording.names) names.push_back(text_of(name));
  for (const RecordedBlock& one : recording.blocks) {
    blocks.push_back(
        {{"index", triple(one.index)}, {"launch", one.launch}, {"shared", stores_of(one.shared)}});
  }
  for (const RecordedWarp& one : recording.warps) {
    warps.push_back(
        {{"block", one.block}, {"warp", one.warp}, {"registers", values_of(one.registers)}});
  }
  for (const Mark& one : recording.marks) {
    marks.push_back({{"step", one.step}, {"lane", one.lane}, {"access", number_of(one.access)}});
  }
  for (const std::string& line : words.lines) lines.push_back(text_of(line));
  return {{"title", text_of(words.title)},         {"code", text_of(words.code)},
          {"message", text_of(words.message)},     {"lines", std::move(lines)},
          {"notes", notes_of(recording)},          {"launches", std::move(launches)},
          {"allocations", std::move(allocations)}, {"files", files_of(recording, source)},
          {"places", places_of(recording)},        {"names", std::move(names)},
          {"blocks", std::move(blocks)},           {"warps", std::move(warps)},
          {"steps", steps_of(recording.steps)},    {"marks", std::move(marks)}};
}

/// In JSON these stand in strings alone, where an escape means the same.
std::string inside_script(const std::string& text) {
  std::string safe;
  safe.reserve(text.size() + text.size() / 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    const std::string_view three = std::string_view(text).substr(i, 3);
    if (letter == '<' || letter == '>' || letter == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      safe += three.back() == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += letter;
    }
  }
  return safe;
}

}  // namespace

std::string page_data(const Recording& recording, const PageWords& words,
                      const SourceText& source) {
  const json data = describe(recording, words, source);
  return inside_script(data.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace simgpu::replay
