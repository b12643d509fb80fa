#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simgpu/ptx/ast.h"

namespace simgpu::ptx {

/// What a name in a function's body stands for.
struct Meaning {
  enum class Kind : std::uint8_t { registers, variable, table };
  Kind kind = Kind::registers;
  std::uint32_t first_register = 0;  ///< of `width` consecutive entries of Function::registers
  unsigned width = 1;                ///< more than 1 for a .v2 or .v4 register or variable
  std::string_view symbol;           ///< the name that is unique in the function (variable, table)
  Type type = Type::none;            ///< of a register or variable
};

/// The names of one function: registers, variables and branch tables, through its nested scopes. A
/// name that two scopes declare gets a second, unique spelling ("temp@2") in the Function.
///
/// Registers are added to Function::registers at their first use, so that `.reg .b32
/// %r<4000000000>;` costs nothing. Names given to the table are views that must outlive it.
class ScopeTable {
 public:
  explicit ScopeTable(Function& function);

  void open();
  void close();
  /// 1 in the function's outermost scope, where parameters live too.
  std::uint32_t depth() const { return static_cast<std::uint32_t>(scopes_.size()); }

  /// `.reg .type name;` @return false if this scope has declared the name already.
  bool declare_register(std::string_view name, Type type, unsigned width);
  /// `.reg .type stem<count>;`: stem0 to stem(count-1). @return false as above.
  bool declare_range(std::string_view stem, std::uint64_t count, Type type, unsigned width);
  /// Adds the variable to Function::variables, under a unique name. @return false as above.
  bool declare_variable(std::string_view name, Variable variable);
  /// A name whose storage is kept elsewhere: a parameter. @return false as above.
  bool declare_parameter(std::string_view name, Type type, unsigned width);
  /// A name that stands for the module's variable `symbol`. @return false as above.
  bool declare_module_variable(std::string_view name, std::string symbol, Type type,
                               unsigned width);
  /// The name of a .branchtargets, .calltargets or .callprototype. @return its unique spelling, or
  /// nothing if this scope has declared the name already.
  std::optional<std::string> declare_table(std::string_view name);

  /// The innermost declaration of the name. Adds registers on their first use.
  std::optional<Meaning> find(std::string_view name);

 private:
  struct Binding {
    Meaning::Kind kind = Meaning::Kind::registers;
    std::uint32_t depth = 0;
    std::uint32_t index = 0;  ///< into groups_ or symbols_
  };
  struct RegisterGroup {
    std::string name;  ///< unique; of a range, its stem
    Type type = Type::none;
    unsigned width = 1;
    std::uint64_t count = 0;
    bool is_range = false;
    std::uint32_t depth = 0;
    /// Of a range: the next one outwards with the same stem that has more registers, or itself when
    /// there is none. `jump` is one further out, such that a search by both takes logarithmic time
    /// however deep a hostile text nests its scopes.
    std::uint32_t around = 0, jump = 0;
    std::uint32_t distance = 0;  ///< steps by `around` to the outermost
  };
  struct NamedSymbol {
    std::string name;
    Type type = Type::none;
    unsigned width = 1;
    std::int64_t variable =
        -1;  ///< index into Function::variables of a .param, which may be reused
  };
  using Names = std::unordered_map<std::string_view, std::vector<Binding>>;
  struct ScopeEntry {
    Names* names;
    std::string_view name;
  };

  bool bind(Names& names, std::string_view name, Meaning::Kind kind, std::uint32_t index);
  std::optional<std::uint32_t> innermost_range(std::string_view stem) const;
  std::optional<std::uint32_t> range_reaching(std::uint32_t innermost, std::uint64_t number) const;
  void link_range(std::uint32_t inner, std::optional<std::uint32_t> outer);
  bool bound_here(const Names& names, std::string_view name) const;
  bool declare_group(Names& names, std::string_view name, RegisterGroup group);
  std::string unique(std::string_view name);
  Meaning registers_of(std::uint32_t group, std::uint32_t number);
  void add_registers(const RegisterGroup& group, const std::string& name);
  static bool same_storage(const Variable& a, const Variable& b);

  Function& function_;
  std::vector<std::vector<ScopeEntry>> scopes_;
  Names names_;
  Names stems_;
  std::vector<RegisterGroup> groups_;
  std::vector<NamedSymbol> symbols_;
  std::unordered_map<std::uint64_t, std::uint32_t> used_registers_;  ///< group and number to index
  std::unordered_map<std::string, std::uint32_t> spellings_;  ///< how often each name was given
  std::unordered_map<std::string_view, std::uint32_t> free_parameters_;  ///< closed scopes' .param
};

}  // namespace simgpu::ptx
