#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/lower/pending.h"

namespace simgpu {

/// An instruction, form or feature the engine does not have; what() says which.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a variable lives, as seen from one (inlined) function.
struct VariableHome {
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;  ///< device address, or offset in its space
  std::uint64_t bytes = 0;
  /// .param variables: the kernel's own parameters (one constant bank), or the frame of an inlined
  /// call.
  bool kernel_parameter = false;
};

/// An address operand, ready for a memory handler: a slot with the base, and bytes to add to it.
struct Address {
  Ref base;
  std::int64_t offset = 0;
  ptx::Space space = ptx::Space::generic;
  bool kernel_parameter = false;
};

/// A function being inlined: registers, labels and names of this copy.
struct FunctionInstance {
  const ptx::Function* function = nullptr;
  std::uint32_t first_register = 0;
  std::uint32_t first_label = 0;
  std::uint32_t return_label = 0;
  bool is_kernel = true;
  std::map<std::string, VariableHome, std::less<>> variables;
  std::optional<std::uint32_t> carry;  ///< the condition code, a predicate register
};

/// Turns a kernel's PTX, with all device functions it calls inlined, into pending instructions.
/// Opcode files use it to add what one PTX instruction becomes.
class KernelBuilder {
 public:
  KernelBuilder(const ptx::Module& module, const SymbolTable& symbols, const ptx::Function& kernel);

  /// All of it: control flow, registers, executable code.
  LoweredKernel build();

  // For the opcode files. Operand numbers count from 0 as written.

  const ptx::Instruction& instruction() const { return *instruction_; }
  const FunctionInstance& instance() const { return *instance_; }
  const ptx::Module& module() const { return module_; }
  std::size_t operand_count() const { return instruction_->operands.size(); }

  /// A new instruction with the guard and source place of the PTX instruction.
  Pending& emit(Handler handler, const Cost& cost);
  /// Same, but an instruction of lowering's own: not counted and not issued; guarded only when it
  /// writes a register of the program.
  Pending& emit_hidden(Handler handler, bool guarded = false);

  /// The value of operand `number` as a source of `kind`: 'i' up to 32 bits, 'l' 64 bits, 'f' and
  /// 'd' floating point, 'p' predicate.
  Ref source(std::size_t number, char kind);
  Ref source(const ptx::Scalar& scalar, char kind, bool negated = false);
  Ref destination(std::size_t number, char kind);
  Ref destination(const ptx::Scalar& scalar, char kind);
  /// The elements of a {vector} operand, or the scalar as the only one.
  std::vector<Ref> sources(std::size_t number, char kind);
  std::vector<Ref> destinations(std::size_t number, char kind);
  /// Element count of an operand.
  std::size_t width(std::size_t number) const;
  /// Bits of the register an operand names (1 for predicates); 0 when it is no register.
  unsigned register_bits(const ptx::Scalar& scalar) const;

  /// Resolves an address for `space`; shared, local and parameter addresses become 32 bits,
  /// others 64.
  Address address(std::size_t number, ptx::Space space);
  std::optional<VariableHome> find_variable(std::string_view name) const;

  Ref new_register(SlotKind kind);
  Ref constant(std::uint64_t bits, unsigned bytes);
  Ref carry();

  std::uint32_t label(std::uint32_t body_index) const {
    return instance_->first_label + body_index;
  }
  std::uint32_t return_label() const { return instance_->return_label; }
  void mark_orders_blocks() { kernel_.info.orders_blocks = true; }
  /// Inlines a call of `callee`, whose arguments and results are the caller's .param variables.
  void inline_call(const ptx::Function& callee, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& results);
  std::string place() const;  ///< "gemm.cu:41" of the current instruction
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  void lay_out_kernel();
  void place_module_shared();
  void declare_variables(FunctionInstance& instance);
  void lower_body(FunctionInstance& instance);
  void lower_instruction(const ptx::Instruction& instruction);
  void annotate(Pending& pending) const;
  void set_place(const ptx::Instruction& instruction);
  std::uint64_t symbol_value(const ptx::Symbol& symbol) const;
  std::uint32_t place_in(std::uint32_t& next, std::uint64_t bytes, unsigned alignment) const;
  FunctionInstance make_instance(const ptx::Function& function, bool is_kernel);
  void add_shared(FunctionInstance* instance, const ptx::Variable& variable);
  Ref widen_address(Ref base, unsigned bits);
  /// base + offset in 32 bits, or out of bounds; the offset is in it.
  Ref narrow_address(Ref base, std::int64_t offset);

  LoweredKernel finish();

  const ptx::Module& module_;
  const SymbolTable& symbols_;
  const ptx::Function& function_;
  LoweredKernel kernel_;

  std::vector<Pending> code_;
  std::vector<SlotKind> registers_;
  std::vector<std::uint32_t> labels_;  ///< label -> instruction
  std::vector<LoweredKernel::Constant> constants_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constant_index_;
  std::map<std::string, VariableHome, std::less<>> module_variables_;
  std::vector<const ptx::Function*> call_stack_;
  FunctionInstance* instance_ = nullptr;
  const ptx::Instruction* instruction_ = nullptr;
  std::string file_;
  std::uint32_t line_ = 0, column_ = 0;
  Ref guard_;
  bool guard_negated_ = false;
  std::uint32_t shared_next_ = 0, local_next_ = 0, frame_next_ = 0;
};

}  // namespace simgpu
