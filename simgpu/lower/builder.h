#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/call_graph.h"
#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/pending.h"
#include "simgpu/lower/register_allocation.h"
#include "simgpu/lower/source_files.h"
#include "simgpu/lower/symbol_table.h"

namespace simgpu {

/// An instruction, form or feature the engine does not have; what() says which.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kernel that inlining makes too large: unlike one instruction, it is refused as a whole.
class TooLarge : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// Where a variable lives, as seen from one (inlined) function.
struct VariableHome {
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;  ///< device address, or offset in its space
  std::uint64_t bytes = 0;
  /// .param variables: the kernel's own parameters (one constant bank), or the frame of an inlined
  /// call.
  bool kernel_parameter = false;
  bool in_frame = false;    ///< the address counts from the stack pointer
  std::uint32_t array = 0;  ///< KernelInfo::shared_arrays, plus one; 0: none of those
};

/// An address operand, ready for a memory handler: a slot with the base, and bytes to add to it.
struct Address {
  Ref base;
  std::int64_t offset = 0;
  ptx::Space space = ptx::Space::generic;
  bool kernel_parameter = false;
  /// Of a .param variable that carries values into functions or back: KernelBuilder::passed_byte().
  std::optional<std::uint64_t> passed;
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
  std::uint32_t call = 0;              ///< that it was inlined for; as InstructionInfo::call
};

/// A function with a body of its own among the kernel's instructions.
struct OutOfLineBody {
  const ptx::Function* function = nullptr;
  std::uint32_t entry = 0;        ///< label
  std::uint32_t leave = 0;        ///< label of the only instruction that returns
  std::uint32_t frame_bytes = 0;  ///< of its .param variables, those it is called with included
};

/// Turns a kernel's PTX, with the device functions it calls, into pending instructions: inlined,
/// or behind the kernel's own body when they are recursive or called through their address.
/// Opcode files use it to add what one PTX instruction becomes.
class KernelBuilder {
 public:
  /// @param most_instructions beyond which the kernel is refused
  KernelBuilder(const InstructionSet& instructions, const ptx::Module& module,
                const SourceFiles& files, const CallGraph& calls, const SymbolTable& symbols,
                const ptx::Function& kernel, std::size_t most_instructions);

  /// All of it: control flow, registers, executable code.
  LoweredKernel build();
  /// Whether build() gave up for the kernel's size.
  bool is_too_large() const { return too_large_; }

  const InstructionSet& instructions() const { return instructions_; }
  const Primitives& primitives() const { return instructions_.primitives(); }

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

  /// Notes that an access of Pending::access_bytes carries values into a function or back.
  /// @param first Address::passed
  void note_passed(Pending& access, std::uint64_t first, bool stores) const;

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
  /// The same with the offset added: all of the address in one value.
  Ref plain_address(std::size_t number, ptx::Space space);
  std::optional<VariableHome> find_variable(std::string_view name) const;
  /// The same of a variable that the kernel uses.
  std::optional<VariableHome> use_variable(std::string_view name);

  Ref new_register(SlotKind kind);
  /// @param array see LoweredKernel::Constant
  Ref constant(std::uint64_t bits, unsigned bytes, std::uint32_t array = 0);
  Ref carry();
  /// The slot to which addresses of variables in frames are relative; holds 0 in the kernel itself.
  Ref stack_pointer();

  std::uint32_t label(std::uint32_t body_index) const {
    return instance_->first_label + body_index;
  }
  std::uint32_t return_label() const { return instance_->return_label; }
  void mark_uses_stack() { kernel_.uses_stack = true; }
  void mark_sees_order() { kernel_.info.sees_order = true; }
  void mark_signals_host() { kernel_.info.signals_host = true; }
  void mark_orders_blocks() { kernel_.info.orders_blocks = true; }
  /// A call of `callee`, whose arguments and results are the caller's .param variables.
  void call(const ptx::Function& callee, const std::vector<std::string>& arguments,
            const std::vector<std::string>& results);
  /// A call of what `address` (64 bits) points to; `table` names its .callprototype or
  /// .calltargets.
  void call_indirectly(Ref address, std::string_view table,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& results);
  /// A .param variable of the current function for what `like` passes, by its name.
  std::string new_parameter(const ptx::Variable& like);
  void store_parameter(const std::string& name, Ref value);
  void load_parameter(const std::string& name, Ref to);
  std::string place() const;  ///< "gemm.cu:41" of the current instruction
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  void lay_out_kernel();
  void place_module_shared();
  void declare_variables(FunctionInstance& instance);
  void declare(FunctionInstance& instance, const ptx::Variable& variable, ptx::Space space,
               std::uint32_t& next, unsigned alignment);
  Pending& emit_in_frame(const VariableHome& home, bool stores);
  std::uint64_t passed_byte(std::uint64_t address, bool in_frame) const;
  static std::vector<std::uint32_t> passed_words(std::uint64_t first, std::uint64_t bytes);
  void note_passed(Pending& call, const CallSite& site);
  /// Parameters and results that a function has in registers pass through .param variables, which
  /// have a name of their own: from there when it begins, to there when it ends.
  void enter_registers(const FunctionInstance& instance);
  void leave_registers(const FunctionInstance& instance);
  Ref register_of(const FunctionInstance& instance, const ptx::Variable& formal);
  static std::string home_of(const ptx::Variable& formal);
  void inline_call(const ptx::Function& callee, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& results);
  void emit_call(std::uint32_t function, std::uint32_t signature, Ref address,
                 const std::vector<std::string>& arguments,
                 const std::vector<std::string>& results);
  /// The caller's variables `names`, and the callee's, which lie from `next` on.
  std::vector<PassedValue> passed_values(const std::vector<std::string>& names,
                                         const std::vector<Signature::Passed>& formals,
                                         std::uint32_t& next) const;
  std::uint32_t signature_index(const Signature& signature);
  Signature signature_of_table(std::string_view table) const;
  std::uint32_t out_of_line(const ptx::Function& function);
  void lower_program(FunctionInstance& kernel);
  void forget_program();
  void abandon();
  void lower_out_of_line(std::uint32_t index);
  /// Calls emit(), which makes one call, so that only the lanes of the guard come to it.
  template <class Emit>
  void under_guard(Emit emit);
  void lower_body(FunctionInstance& instance);
  void lower_instruction(const ptx::Instruction& instruction);
  void refuse_instruction(const std::string& what);
  void annotate(Pending& pending) const;
  std::uint32_t add_call(KernelInfo::Call call);
  std::uint32_t call_at(const ptx::SourceLocation& place);
  void set_place(const ptx::Instruction& instruction);
  Ref register_value(const ptx::RegisterRef& ref, char kind, bool negated);
  Ref with_added(Ref value, std::int64_t added, char kind);
  Ref reserved_shared(char kind);
  Ref special_register_value(const ptx::SpecialRegister& special, char kind);
  Ref symbol_value(const ptx::Symbol& symbol, unsigned bytes);
  /// The address of array[register+offset]: 64 bits, but the upper half is 0 in memory whose
  /// addresses have 32.
  Ref element_address(const ptx::Operand& operand);
  Ref low_half(Ref pair);
  /// What makes an address in the variable's space a generic one.
  std::uint64_t window_of(const VariableHome& home) const;
  std::uint32_t place_in(std::uint32_t& next, std::uint64_t bytes, unsigned alignment) const;
  FunctionInstance make_instance(const ptx::Function& function, bool is_kernel);
  void add_shared(FunctionInstance* instance, const ptx::Variable& variable);
  Ref widen_address(Ref base, unsigned bits);
  /// base + offset in 32 bits, or out of bounds; the offset is in it.
  Ref narrow_address(Ref base, std::int64_t offset);

  struct Layout;
  LoweredKernel finish();
  /// Instruction `index`; `place` turns references into byte offsets.
  template <class Place>
  Lowered lowered(std::uint32_t index, const Layout& layout, const Place& place);
  void refuse_large_memory();
  ControlFlow find_control_flow(std::vector<std::uint32_t>& block_of) const;
  const OutOfLineBody* body_at(std::uint32_t instruction) const;
  void finish_calls(const Allocation32& registers, const std::vector<std::uint32_t>& block_of);

  const InstructionSet& instructions_;
  const ptx::Module& module_;
  const SourceFiles& files_;
  const CallGraph& calls_;
  const SymbolTable& symbols_;
  const ptx::Function& function_;
  const std::size_t most_instructions_;
  LoweredKernel kernel_;

  std::vector<Pending> code_;
  std::vector<SlotKind> registers_;
  std::vector<std::uint32_t> labels_;  ///< label -> instruction
  std::vector<LoweredKernel::Constant> constants_;
  std::map<std::tuple<unsigned, std::uint64_t, std::uint32_t>, std::uint32_t> constant_index_;
  std::map<std::string, VariableHome, std::less<>> module_variables_;
  std::vector<const ptx::Function*> call_stack_;
  FunctionInstance* instance_ = nullptr;
  const ptx::Instruction* instruction_ = nullptr;
  std::uint32_t file_ = 0, line_ = 0, column_ = 0, call_ = 0;
  /// Calls that are known: by the place in the function that was inlined, and by the call that the
  /// function which it is in was itself inlined for.
  std::map<std::pair<const ptx::SourceLocation*, std::uint32_t>, std::uint32_t> call_of_;
  std::size_t inlined_calls_ = 0;
  bool too_large_ = false;
  Ref guard_;
  bool guard_negated_ = false;
  std::uint32_t shared_next_ = 0, local_next_ = 0, frame_next_ = 0;

  std::vector<OutOfLineBody> bodies_;  ///< as LoweredKernel::functions
  std::map<const ptx::Function*, std::uint32_t> body_index_;
  std::vector<Signature> signatures_;
  std::vector<std::uint32_t> caller_of_site_;  ///< body, or kKernel
  std::uint32_t body_ = kKernel;               ///< which is being lowered
  /// Where frames begin in local and in .param memory: behind the kernel's own variables.
  std::uint32_t local_base_ = 0, frame_base_ = 0;
  std::optional<std::uint32_t> stack_pointer_;  ///< index into constants_
  /// Of words in which out-of-line functions leave their results: where the caller finds them.
  std::map<std::uint32_t, std::uint32_t> results_of_calls_;
  static constexpr std::uint32_t kKernel = 0xFFFFFFFFU;
};

}  // namespace simgpu
