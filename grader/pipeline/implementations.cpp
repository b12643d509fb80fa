#include "grader/pipeline/implementations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "grader/pipeline/elf_symbols.h"

namespace rooflab {
namespace {

constexpr std::string_view kEntryPrefix = "rooflab_entry_";

/// The numbers of a group's entries in a library, ascending.
std::vector<int> entry_numbers(const std::vector<std::string>& symbols, const std::string& group) {
  const std::string prefix = std::string(kEntryPrefix) + group + "_";
  std::vector<int> numbers;
  for (const std::string& symbol : symbols) {
    if (!symbol.starts_with(prefix)) continue;
    int number = 0;
    const char* end = symbol.data() + symbol.size();
    const auto [rest, error] = std::from_chars(symbol.data() + prefix.size(), end, number);
    if (error == std::errc() && rest == end) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::string> symbols_of(const std::filesystem::path& library) {
  try {
    return read_dynamic_symbols(library).defined;
  } catch (const ElfError& error) {
    throw InstallationError(
        fmt::format("{} is no library of implementations: {}; build it again, or unpack the kit "
                    "once more",
                    library.string(), error.what()));
  }
}

}  // namespace

std::vector<Implementation> find_implementations(const Installation& installation,
                                                 const PartSpec& part, const TaskSpec& task) {
  const auto open = installation.tested_library(part.directory, task.id, false);
  const auto hidden = installation.tested_library(part.directory, task.id, true);
  if (!std::filesystem::exists(open)) {
    throw InstallationError(fmt::format("the implementations of {} are not there: {}; build {}",
                                        task.id, open.string(), part.directory));
  }
  const std::vector<std::string> open_symbols = symbols_of(open);
  std::vector<std::string> hidden_symbols;
  if (std::filesystem::exists(hidden)) hidden_symbols = symbols_of(hidden);
  std::vector<Implementation> all;
  for (const GroupSpec& group : task.groups) {
    const auto add = [&](const std::filesystem::path& library,
                         const std::vector<std::string>& symbols, bool is_hidden) {
      for (const int number : entry_numbers(symbols, group.name)) {
        all.push_back({library, fmt::format("{}_{}", group.name, number), group.name, is_hidden});
      }
    };
    add(open, open_symbols, false);
    if (all.empty() || all.back().group != group.name) {
      throw InstallationError(
          fmt::format("{} has no ROOFLAB_ENTRY({}_1)", open.string(), group.name));
    }
    add(hidden, hidden_symbols, true);
  }
  return all;
}

}  // namespace rooflab
