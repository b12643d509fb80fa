#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simgpu/ptx/ast.h"

namespace simgpu {

/// The operands of a call: `call (result), callee, (arguments), table;`, all but the callee
/// optional.
struct CallOperands {
  const ptx::Scalar* callee = nullptr;  ///< a function's name, or the register with its address
  const ptx::Operand* results = nullptr;
  const ptx::Operand* arguments = nullptr;
  std::string_view table;  ///< of an indirect call: its .callprototype or .calltargets
};
CallOperands call_operands(const ptx::Instruction& call);

/// What a call passes. Two functions with one signature can stand for each other.
struct Signature {
  struct Passed {
    std::uint64_t bytes = 0;
    unsigned alignment = 1;
    bool operator==(const Passed&) const = default;
  };
  std::vector<Passed> results, parameters;
  bool operator==(const Signature&) const = default;
};
Signature signature_of(const std::vector<ptx::Variable>& results,
                       const std::vector<ptx::Variable>& parameters);

/// Which functions of a module call which. Keeps pointers into the module.
class CallGraph {
 public:
  explicit CallGraph(const ptx::Module& module);

  /// Whether the function can come to call itself, through direct calls alone.
  bool is_recursive(const ptx::Function& function) const;
  /// Device functions with a body whose address an instruction or an initialiser takes, in the
  /// module's order.
  const std::vector<const ptx::Function*>& with_address() const { return with_address_; }

 private:
  std::size_t index_of(const ptx::Function& function) const;
  void find_addresses(const ptx::Module& module);
  void find_cycles();

  const ptx::Function* first_ = nullptr;
  std::unordered_map<std::string_view, std::uint32_t> index_;
  std::vector<std::vector<std::uint32_t>> callees_;  ///< by index in Module::functions
  std::vector<char> recursive_;
  std::vector<const ptx::Function*> with_address_;
};

}  // namespace simgpu
