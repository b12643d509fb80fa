#include "simgpu/ptx/scope_table.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace simgpu::ptx {
namespace {

constexpr std::size_t kMostDigits = 10;  // of a register's number, which has 32 bits
constexpr std::array<std::string_view, 4> kVectorElements = {".x", ".y", ".z", ".w"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

ScopeTable::ScopeTable(Function& function) : function_(function) { open(); }

void ScopeTable::open() { scopes_.emplace_back(); }

void ScopeTable::close() {
  for (const ScopeEntry& entry : scopes_.back()) {
    const auto found = entry.names->find(entry.name);
    const Binding closed = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) entry.names->erase(found);
    if (closed.kind != Meaning::Kind::variable) continue;
    const NamedSymbol& symbol = symbols_[closed.index];
    if (symbol.variable >= 0) {
      free_parameters_[entry.name] = static_cast<std::uint32_t>(symbol.variable);
    }
  }
  scopes_.pop_back();
}

bool ScopeTable::bound_here(const Names& names, std::string_view name) const {
  const auto found = names.find(name);
  return found != names.end() && found->second.back().depth == depth();
}

bool ScopeTable::bind(Names& names, std::string_view name, Meaning::Kind kind,
                      std::uint32_t index) {
  if (bound_here(names, name)) return false;
  names[name].push_back({.kind = kind, .depth = depth(), .index = index});
  scopes_.back().push_back({&names, name});
  return true;
}

std::string ScopeTable::unique(std::string_view name) {
  const std::uint32_t given = ++spellings_[std::string(name)];
  // No PTX name contains '@', so the new spelling cannot meet another declaration.
  return given == 1 ? std::string(name) : fmt::format("{}@{}", name, given);
}

bool ScopeTable::declare_group(Names& names, std::string_view name, RegisterGroup group) {
  if (!bind(names, name, Meaning::Kind::registers, static_cast<std::uint32_t>(groups_.size()))) {
    return false;
  }
  group.depth = depth();
  groups_.push_back(std::move(group));
  return true;
}

bool ScopeTable::declare_register(std::string_view name, Type type, unsigned width) {
  return declare_group(names_, name,
                       {.name = std::string(name), .type = type, .width = width, .count = 1});
}

bool ScopeTable::declare_range(std::string_view stem, std::uint64_t count, Type type,
                               unsigned width) {
  const std::optional<std::uint32_t> outer = innermost_range(stem);
  const bool is_new = declare_group(
      stems_, stem,
      {.name = std::string(stem), .type = type, .width = width, .count = count, .is_range = true});
  if (is_new) link_range(static_cast<std::uint32_t>(groups_.size() - 1), outer);
  return is_new;
}

std::optional<std::uint32_t> ScopeTable::innermost_range(std::string_view stem) const {
  const auto found = stems_.find(stem);
  if (found == stems_.end()) return std::nullopt;
  return found->second.back().index;
}

/// The innermost range from this one outwards that has a register of the number.
std::optional<std::uint32_t> ScopeTable::range_reaching(std::uint32_t innermost,
                                                        std::uint64_t number) const {
  std::uint32_t at = innermost;
  while (groups_[at].count <= number) {
    const RegisterGroup& range = groups_[at];
    if (range.around == at) return std::nullopt;
    at = groups_[range.jump].count <= number ? range.jump : range.around;
  }
  return at;
}

/// Jump pointers as in Myers, "An applicative random-access stack" (1983).
void ScopeTable::link_range(std::uint32_t inner, std::optional<std::uint32_t> outer) {
  RegisterGroup& range = groups_[inner];
  range.around = range.jump = inner;
  if (outer) outer = range_reaching(*outer, range.count);
  if (!outer) return;
  const RegisterGroup& around = groups_[*outer];
  const RegisterGroup& beyond = groups_[around.jump];
  const bool equal_steps =
      around.distance - beyond.distance == beyond.distance - groups_[beyond.jump].distance;
  range.around = *outer;
  range.jump = equal_steps ? beyond.jump : *outer;
  range.distance = around.distance + 1;
}

bool ScopeTable::same_storage(const Variable& a, const Variable& b) {
  return a.space == b.space && a.type == b.type && a.vector == b.vector &&
         a.alignment == b.alignment && a.dimensions == b.dimensions;
}

bool ScopeTable::declare_variable(std::string_view name, Variable variable) {
  const auto index = static_cast<std::uint32_t>(symbols_.size());
  if (!bind(names_, name, Meaning::Kind::variable, index)) return false;
  NamedSymbol symbol{.name = "", .type = variable.type, .width = variable.vector};
  const bool is_parameter = variable.space == Space::param;
  // Every call nvcc emits declares param0, param1, … in a scope of its own: one storage serves all
  // calls that pass the same shape, since no two of those scopes are alive at once.
  const auto reusable = free_parameters_.find(name);
  if (is_parameter && reusable != free_parameters_.end() &&
      same_storage(function_.variables[reusable->second], variable)) {
    symbol.name = function_.variables[reusable->second].name;
    symbol.variable = reusable->second;
    free_parameters_.erase(reusable);
  } else {
    variable.name = unique(name);
    symbol.name = variable.name;
    if (is_parameter) symbol.variable = static_cast<std::int64_t>(function_.variables.size());
    function_.variables.push_back(std::move(variable));
  }
  symbols_.push_back(std::move(symbol));
  return true;
}

bool ScopeTable::declare_parameter(std::string_view name, Type type, unsigned width) {
  if (bound_here(names_, name)) return false;
  return declare_module_variable(name, unique(name), type, width);
}

bool ScopeTable::declare_module_variable(std::string_view name, std::string symbol, Type type,
                                         unsigned width) {
  if (!bind(names_, name, Meaning::Kind::variable, static_cast<std::uint32_t>(symbols_.size()))) {
    return false;
  }
  symbols_.push_back({.name = std::move(symbol), .type = type, .width = width});
  return true;
}

std::optional<std::string> ScopeTable::declare_table(std::string_view name) {
  if (!bind(names_, name, Meaning::Kind::table, static_cast<std::uint32_t>(symbols_.size()))) {
    return std::nullopt;
  }
  symbols_.push_back({.name = unique(name)});
  return symbols_.back().name;
}

void ScopeTable::add_registers(const RegisterGroup& group, const std::string& name) {
  const std::string spelling = unique(name);
  if (group.width == 1) {
    function_.registers.push_back({spelling, group.type});
    return;
  }
  for (unsigned element = 0; element < group.width; ++element) {
    function_.registers.push_back(
        {fmt::format("{}{}", spelling, kVectorElements.at(element)), group.type});
  }
}

Meaning ScopeTable::registers_of(std::uint32_t group_index, std::uint32_t number) {
  const RegisterGroup& group = groups_[group_index];
  const std::uint64_t key = (std::uint64_t{group_index} << 32) | number;
  const auto [used, is_new] =
      used_registers_.try_emplace(key, static_cast<std::uint32_t>(function_.registers.size()));
  if (is_new) {
    add_registers(group, group.is_range ? fmt::format("{}{}", group.name, number) : group.name);
  }
  return {.kind = Meaning::Kind::registers,
          .first_register = used->second,
          .width = group.width,
          .symbol = {},
          .type = group.type};
}

std::optional<Meaning> ScopeTable::find(std::string_view name) {
  std::optional<Binding> best;
  std::uint32_t best_number = 0;
  const auto exact = names_.find(name);
  if (exact != names_.end()) best = exact->second.back();
  // %r12 is number 12 of %r<…> or number 2 of %r1<…>: the innermost declaration wins.
  for (std::size_t digits = 1; digits <= kMostDigits && digits < name.size(); ++digits) {
    const std::string_view number = name.substr(name.size() - digits);
    if (!is_digit(number.front())) break;
    if (digits > 1 && number.front() == '0') continue;
    std::uint32_t value = 0;
    if (std::from_chars(number.begin(), number.end(), value).ec != std::errc()) continue;
    auto range = innermost_range(name.substr(0, name.size() - digits));
    if (range) range = range_reaching(*range, value);
    if (range && (!best || groups_[*range].depth > best->depth)) {
      best = {Meaning::Kind::registers, groups_[*range].depth, *range};
      best_number = value;
    }
  }
  if (!best) return std::nullopt;
  if (best->kind == Meaning::Kind::registers) return registers_of(best->index, best_number);
  const NamedSymbol& symbol = symbols_[best->index];
  return Meaning{
      .kind = best->kind, .width = symbol.width, .symbol = symbol.name, .type = symbol.type};
}

}  // namespace simgpu::ptx
