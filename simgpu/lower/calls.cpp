#include <algorithm>
#include <iterator>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/builder.h"

/// Device functions: inlined, or out of line when they are recursive or called through an address.
namespace simgpu {
namespace {

constexpr std::size_t kDeepestInlining = 64;
constexpr std::size_t kMostInlinedCalls = 100'000;
/// Registers and labels take memory even where no instruction uses them.
constexpr std::size_t kMostNames = 8'000'000;
constexpr std::size_t kMostBodies = 4096;

}  // namespace

void KernelBuilder::call(const ptx::Function& callee, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& results) {
  if (arguments.size() != callee.parameters.size() ||
      results.size() != callee.return_values.size()) {
    refuse("call of " + callee.name + " with other parameters than it has");
  }
  under_guard([&] {
    if (!calls_.is_recursive(callee)) return inline_call(callee, arguments, results);
    const std::uint32_t function = out_of_line(callee);
    emit_call(function, kernel_.functions[function].signature, {}, arguments, results);
  });
}

void KernelBuilder::call_indirectly(Ref address, std::string_view table,
                                    const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& results) {
  const Signature signature = signature_of_table(table);
  if (arguments.size() != signature.parameters.size() || results.size() > 1 ||
      results.size() != signature.results.size()) {
    refuse("a call through a function pointer with other parameters than its prototype has");
  }
  for (const ptx::Function* function : calls_.with_address()) {
    if (signature_of(function->return_values, function->parameters) == signature) {
      out_of_line(*function);
    }
  }
  under_guard([&] {
    emit_call(CallSite::kIndirect, signature_index(signature), address, arguments, results);
  });
}

/// What a call of this .callprototype or .calltargets passes.
Signature KernelBuilder::signature_of_table(std::string_view table) const {
  for (const auto& [name, prototype] : instance_->function->call_prototypes) {
    if (name == table) return signature_of(prototype.return_values, prototype.parameters);
  }
  for (const auto& [name, targets] : instance_->function->call_targets) {
    const ptx::Function* first =
        name == table && !targets.empty() ? module_.find_function(targets.front()) : nullptr;
    if (first != nullptr) return signature_of(first->return_values, first->parameters);
  }
  refuse("a call through a function pointer without a prototype");
}

std::uint32_t KernelBuilder::signature_index(const Signature& signature) {
  const auto found = std::find(signatures_.begin(), signatures_.end(), signature);
  if (found != signatures_.end()) return static_cast<std::uint32_t>(found - signatures_.begin());
  signatures_.push_back(signature);
  return static_cast<std::uint32_t>(signatures_.size() - 1);
}

template <class Emit>
void KernelBuilder::under_guard(Emit emit_it) {
  const Ref guard = guard_;
  const bool negated = guard_negated_;
  std::uint32_t skip = 0;
  if (guard.kind != Ref::Kind::none) {
    skip = static_cast<std::uint32_t>(labels_.size());
    labels_.push_back(0);
    Pending& around = emit(primitives().branch, {.cls = InstructionClass::control});
    around.flow = Flow::branch;
    around.guard_negated = !negated;
    around.labels = {skip};
    guard_ = {};
  }
  const auto restore = [&] {
    guard_ = guard;
    guard_negated_ = negated;
    if (guard.kind != Ref::Kind::none) labels_[skip] = static_cast<std::uint32_t>(code_.size());
  };
  try {
    emit_it();
  } catch (const Unsupported&) {
    restore();
    throw;
  }
  restore();
}

FunctionInstance KernelBuilder::make_instance(const ptx::Function& function, bool is_kernel) {
  if (registers_.size() + function.registers.size() > kMostNames ||
      labels_.size() + function.body.size() > kMostNames) {
    throw TooLarge("a kernel of more than 8,000,000 registers or instructions after inlining");
  }
  FunctionInstance instance;
  instance.function = &function;
  instance.is_kernel = is_kernel;
  instance.first_register = static_cast<std::uint32_t>(registers_.size());
  for (const ptx::Register& reg : function.registers) registers_.push_back(slot_kind(reg.type));
  instance.first_label = static_cast<std::uint32_t>(labels_.size());
  instance.return_label =
      instance.first_label + static_cast<std::uint32_t>(function.body.size()) + 1;
  labels_.resize(labels_.size() + function.body.size() + 2, 0);
  return instance;
}

void KernelBuilder::inline_call(const ptx::Function& callee,
                                const std::vector<std::string>& arguments,
                                const std::vector<std::string>& results) {
  if (call_stack_.size() >= kDeepestInlining) refuse("calls nested deeper than 64");
  // Functions that call the next one twice double the work at each level, code or not.
  if (++inlined_calls_ > kMostInlinedCalls) {
    throw TooLarge("a kernel of more than 100,000 calls after inlining");
  }
  FunctionInstance instance = make_instance(callee, false);
  const auto bind = [&](const ptx::Variable& formal, const std::string& actual) {
    const auto home = find_variable(actual);
    if (!home || home->space != ptx::Space::param || home->bytes < formal.size()) {
      refuse("call of " + callee.name + " with an argument that is no .param variable");
    }
    instance.variables[home_of(formal)] = *home;
    instance.variables[home_of(formal)].bytes = formal.size();
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) bind(callee.parameters[i], arguments[i]);
  for (std::size_t i = 0; i < results.size(); ++i) bind(callee.return_values[i], results[i]);
  declare_variables(instance);

  instance.call = add_call({file_, line_, column_, callee.name, call_});
  FunctionInstance* const caller = instance_;
  const ptx::Instruction* const call = instruction_;
  call_stack_.push_back(&callee);
  enter_registers(instance);
  lower_body(instance);
  leave_registers(instance);
  call_stack_.pop_back();
  instance_ = caller;
  instruction_ = call;
  set_place(*call);
}

// Out of line.

/// The number of the function's body; it is lowered later, when it is new.
std::uint32_t KernelBuilder::out_of_line(const ptx::Function& function) {
  const auto known = body_index_.find(&function);
  if (known != body_index_.end()) return known->second;
  if (bodies_.size() >= kMostBodies) refuse("more than 4096 functions that may be called");
  const auto index = static_cast<std::uint32_t>(bodies_.size());
  body_index_.emplace(&function, index);
  OutOfLineBody body;
  body.function = &function;
  body.entry = static_cast<std::uint32_t>(labels_.size());
  labels_.push_back(0);
  bodies_.push_back(body);
  OutOfLineFunction callable;
  callable.name = function.name;
  callable.signature = signature_index(signature_of(function.return_values, function.parameters));
  kernel_.functions.push_back(std::move(callable));
  return index;
}

std::vector<PassedValue> KernelBuilder::passed_values(const std::vector<std::string>& names,
                                                      const std::vector<Signature::Passed>& formals,
                                                      std::uint32_t& next) const {
  std::vector<PassedValue> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto home = find_variable(names[i]);
    const Signature::Passed& formal = formals.at(i);
    if (!home || home->space != ptx::Space::param || home->kernel_parameter ||
        home->bytes < formal.bytes) {
      refuse("a call with an argument that is no .param variable of its size");
    }
    values.push_back({static_cast<std::uint32_t>(home->address), home->in_frame,
                      place_in(next, formal.bytes, formal.alignment),
                      static_cast<std::uint32_t>(formal.bytes)});
  }
  return values;
}

void KernelBuilder::emit_call(std::uint32_t function, std::uint32_t signature, Ref address,
                              const std::vector<std::string>& arguments,
                              const std::vector<std::string>& results) {
  CallSite site;
  site.function = function;
  site.signature = signature;
  std::uint32_t next = 0;
  site.results = passed_values(results, signatures_[signature].results, next);
  site.arguments = passed_values(arguments, signatures_[signature].parameters, next);
  stack_pointer();
  if (function == CallSite::kIndirect) {
    const auto calling = static_cast<std::uint32_t>(labels_.size());
    Pending& part = emit_hidden(primitives().part_by_target);
    part.a = address;
    part.flow = Flow::jump;
    part.labels = {calling};
    labels_.push_back(static_cast<std::uint32_t>(code_.size()));
  }
  Pending& call = emit(primitives().call, {.cls = InstructionClass::control});
  call.a = address;
  call.flow = Flow::call;
  call.option = static_cast<std::uint32_t>(kernel_.call_sites.size());
  note_passed(call, site);
  kernel_.call_sites.push_back(std::move(site));
  caller_of_site_.push_back(body_);
}

/// Arguments go from the caller's variables to the function's, and results the other way.
void KernelBuilder::note_passed(Pending& call, const CallSite& site) {
  // Variables can be large, whatever little text they take.
  constexpr std::uint32_t kMostFollowed = 128;
  const auto of_caller = [&](const PassedValue& value) {
    return passed_words(passed_byte(value.caller, value.in_frame),
                        std::min(value.bytes, kMostFollowed));
  };
  const auto of_function = [&](const PassedValue& value) {
    return passed_words(passed_byte(std::uint64_t{frame_base_} + value.callee, true),
                        std::min(value.bytes, kMostFollowed));
  };
  for (const PassedValue& value : site.arguments) {
    std::ranges::copy(of_caller(value), std::back_inserter(call.reads_passed));
    std::ranges::copy(of_function(value), std::back_inserter(call.writes_passed));
  }
  for (const PassedValue& value : site.results) {
    const std::vector<std::uint32_t> to = of_caller(value), from = of_function(value);
    for (std::size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
      results_of_calls_[to[i]] = from[i];
    }
  }
}

Ref KernelBuilder::stack_pointer() {
  if (!stack_pointer_) {
    stack_pointer_ = static_cast<std::uint32_t>(constants_.size());
    constants_.push_back({0, 4, 0, 0});
  }
  return {Ref::Kind::constant, *stack_pointer_};
}

void KernelBuilder::forget_program() {
  code_.clear();
  std::ranges::fill(labels_, 0);  // they named places in it
  bodies_.clear();
  body_index_.clear();
  caller_of_site_.clear();
  kernel_.functions.clear();
  kernel_.call_sites.clear();
  kernel_.refusals.clear();
  inlined_calls_ = 0;
  results_of_calls_.clear();
  body_ = kKernel;
  call_stack_ = {&function_};
}

/// What a kernel that cannot be lowered becomes; no launch comes to it.
void KernelBuilder::abandon() {
  forget_program();
  emit_hidden(primitives().exit).flow = Flow::exit;
}

/// The kernel's own body, then those of the functions it calls out of line, and of those they call.
void KernelBuilder::lower_program(FunctionInstance& kernel) {
  forget_program();
  lower_body(kernel);
  // Falling off the end of the body ends the kernel.
  guard_ = {};
  emit_hidden(primitives().exit).flow = Flow::exit;

  kernel_.info.local_bytes_per_thread = local_next_;
  kernel_.frame_bytes_per_thread = frame_next_;
  if (bodies_.empty()) return;
  const auto aligned = [](std::uint32_t bytes) {
    return (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  };
  kernel_.info.local_bytes_per_thread = local_base_ = aligned(local_next_);
  kernel_.frame_bytes_per_thread = frame_base_ = aligned(frame_next_);
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) lower_out_of_line(i);
  local_next_ = local_base_;
  frame_next_ = frame_base_;
}

/// The body ends in one instruction to which every return jumps, so that all lanes of a call leave
/// together.
void KernelBuilder::lower_out_of_line(std::uint32_t index) {
  body_ = index;
  local_next_ = frame_next_ = 0;
  const ptx::Function& function = *bodies_[index].function;
  FunctionInstance instance = make_instance(function, false);
  // Where passed_values() has every caller put them, whichever function it calls.
  const auto declare_passed = [&](ptx::Variable passed) {
    passed.name = home_of(passed);
    declare(instance, passed, ptx::Space::param, frame_next_, passed.alignment);
  };
  std::for_each(function.return_values.begin(), function.return_values.end(), declare_passed);
  std::for_each(function.parameters.begin(), function.parameters.end(), declare_passed);
  declare_variables(instance);
  labels_[bodies_[index].entry] = static_cast<std::uint32_t>(code_.size());
  call_stack_ = {&function};
  instance_ = &instance;
  guard_ = {};
  enter_registers(instance);
  lower_body(instance);

  guard_ = {};
  const auto leave = static_cast<std::uint32_t>(labels_.size());
  Pending& end = emit_hidden(primitives().jump);
  end.flow = Flow::jump;
  end.labels = {leave};
  labels_.push_back(static_cast<std::uint32_t>(code_.size()));
  labels_[instance.return_label] = static_cast<std::uint32_t>(code_.size());
  leave_registers(instance);
  emit_hidden(primitives().leave).flow = Flow::leave;
  bodies_[index].leave = leave;
  bodies_[index].frame_bytes = frame_next_;
  kernel_.functions[index].local_bytes = local_next_;
}

// From pending to executable.

const OutOfLineBody* KernelBuilder::body_at(std::uint32_t instruction) const {
  const auto after = std::upper_bound(
      bodies_.begin(), bodies_.end(), instruction,
      [&](std::uint32_t at, const OutOfLineBody& body) { return at < labels_[body.entry]; });
  return after == bodies_.begin() ? nullptr : &*(after - 1);
}

void KernelBuilder::finish_calls(const Allocation32& registers,
                                 const std::vector<std::uint32_t>& block_of) {
  if (kernel_.call_sites.empty()) return;
  const auto slot_of = [&](std::uint32_t reg) {
    return SlotRange{registers.offset[reg], slot_bytes(registers_[reg])};
  };
  const auto bytes_of = [](SlotKind kind) {
    return kind == SlotKind::pair ? 8U : kind == SlotKind::word ? 4U : 0U;
  };
  constexpr std::uint32_t kReturnAddress = 8;
  std::vector<std::uint32_t> saved(bodies_.size(), 0);
  for (std::uint32_t i = 0; i < code_.size(); ++i) {
    if (code_[i].flow != Flow::call) continue;
    CallSite& site = kernel_.call_sites[code_[i].option];
    std::uint32_t bytes = 0;
    for (const std::uint32_t reg : registers.live_after_call.at(block_of[i])) {
      site.saved.push_back(slot_of(reg));
      bytes += bytes_of(registers_[reg]);
    }
    const std::uint32_t caller = caller_of_site_[code_[i].option];
    if (caller != kKernel) saved[caller] = std::max(saved[caller], bytes);
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    OutOfLineFunction& function = kernel_.functions[i];
    function.entry = labels_[bodies_[i].entry];
    for (const std::uint32_t reg : registers.live_at_start.at(i)) {
      function.zeroed.push_back(slot_of(reg));
    }
    const std::uint32_t bytes =
        std::max(function.local_bytes + saved[i] + kReturnAddress, bodies_[i].frame_bytes);
    function.frame_bytes = (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  }
  for (std::size_t i = 0; i < kernel_.call_sites.size(); ++i) {
    const std::uint32_t caller = caller_of_site_[i];
    kernel_.call_sites[i].caller_frame_bytes =
        caller == kKernel ? 0 : kernel_.functions[caller].frame_bytes;
  }
  for (const ptx::Function* function : calls_.with_address()) {
    const auto placed = symbols_.find(function->name);
    if (placed == symbols_.end()) continue;
    const auto body = body_index_.find(function);
    kernel_.targets[placed->second] = {
        function->name, body == body_index_.end() ? CallSite::kIndirect : body->second};
  }
  const LoweredKernel::Constant& pointer = constants_[*stack_pointer_];
  kernel_.stack_pointer = pointer.offset;
  kernel_.zeroed.push_back({pointer.offset, kWarpSize * pointer.bytes});
}

}  // namespace simgpu
