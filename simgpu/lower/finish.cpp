#include <algorithm>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/array_origins.h"
#include "simgpu/lower/builder.h"
#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/control_state.h"
#include "simgpu/lower/guesses.h"
#include "simgpu/lower/known_values.h"
#include "simgpu/lower/register_allocation.h"
#include "simgpu/lower/result_uses.h"
#include "simgpu/lower/used_bytes.h"

/// From pending instructions to executable ones: basic blocks, reconvergence points, register
/// slots.
namespace simgpu {
namespace {

bool ends_block(const Pending& pending) { return pending.flow != Flow::next; }

/// Marks first instructions of basic blocks.
std::vector<char> find_leaders(const std::vector<Pending>& code,
                               const std::vector<std::uint32_t>& labels) {
  std::vector<char> leader(code.size() + 1, 0);
  leader[0] = 1;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (ends_block(code[i])) leader[i + 1] = 1;
    for (const std::uint32_t label : code[i].labels) leader[labels[label]] = 1;
  }
  return leader;
}

/// Ends every block with a control instruction, so that only those have to look after reconvergence
/// and counts. Labels are moved to the new positions.
void close_blocks(std::vector<Pending>& code, std::vector<std::uint32_t>& labels,
                  Handler falls_through) {
  const std::vector<char> leader = find_leaders(code, labels);
  std::vector<std::uint32_t> moved(code.size() + 1, 0);
  std::vector<Pending> closed;
  closed.reserve(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (leader[i] && i > 0 && !ends_block(closed.back())) {
      Pending jump;
      jump.handler = falls_through;
      jump.flow = Flow::jump;
      jump.hidden = true;
      jump.cost = {.cls = InstructionClass::control, .issues = false};
      jump.file = code[i].file;
      jump.line = code[i].line;
      jump.call = code[i].call;
      jump.labels = {static_cast<std::uint32_t>(labels.size())};
      labels.push_back(static_cast<std::uint32_t>(i));
      closed.push_back(std::move(jump));
    }
    moved[i] = static_cast<std::uint32_t>(closed.size());
    closed.push_back(std::move(code[i]));
  }
  moved[code.size()] = static_cast<std::uint32_t>(closed.size());
  for (std::uint32_t& label : labels) label = moved[label];
  code = std::move(closed);
}

/// Turns references into byte offsets.
class Placer {
 public:
  Placer(const Allocation32& registers, std::vector<LoweredKernel::Constant>& constants,
         std::uint32_t& bytes)
      : registers_(registers), constants_(constants) {
    bytes = (bytes + 63) / 64 * 64;
    for (LoweredKernel::Constant& constant : constants_) {
      constant.offset = bytes;
      bytes += 32U * constant.bytes;
    }
  }
  std::uint32_t operator()(const Ref& ref) const {
    switch (ref.kind) {
      case Ref::Kind::reg:
        return registers_.offset[ref.index];
      case Ref::Kind::constant:
        return constants_[ref.index].offset;
      case Ref::Kind::none:
        return 0;
    }
    return 0;
  }

 private:
  const Allocation32& registers_;
  std::vector<LoweredKernel::Constant>& constants_;
};

/// What an access adds to its register, or all of its address.
std::int64_t address_offset(const Pending& pending,
                            const std::vector<LoweredKernel::Constant>& constants) {
  const bool is_constant = pending.is_memory && pending.a.kind == Ref::Kind::constant;
  return pending.immediate +
         (is_constant ? static_cast<std::int64_t>(constants[pending.a.index].bits) : 0);
}

InstructionInfo describe(const Pending& pending,
                         const std::vector<LoweredKernel::Constant>& constants) {
  InstructionInfo info;
  info.address_offset = address_offset(pending, constants);
  info.reads_passed = pending.reads_passed;
  info.writes_passed = pending.writes_passed;
  info.cls = pending.cost.cls;
  info.flop_type = pending.cost.flop_type;
  (info.cls == InstructionClass::tensor ? info.flops_per_warp : info.flops_per_thread) =
      pending.cost.flops;
  info.issues = pending.cost.issues && !pending.hidden;
  info.sequence = pending.cost.sequence;
  info.access_bytes = pending.access_bytes;
  info.only_stores = pending.only_stores;
  info.async_step = pending.async_step;
  if (pending.async_step == AsyncStep::wait) info.groups_under_way = pending.option;
  info.fences = pending.cost.fences;
  info.ptx_line = pending.ptx_line;
  info.file = pending.file;
  info.line = pending.line;
  info.column = pending.column;
  info.call = pending.call;
  const auto add = [](std::vector<std::uint32_t>& list, const Ref& ref) {
    if (ref.kind == Ref::Kind::reg) list.push_back(ref.index);
  };
  for (const Ref* ref : {&pending.a, &pending.b, &pending.c, &pending.d, &pending.guard}) {
    add(info.reads, *ref);
  }
  for (const Ref& ref : pending.ins) add(info.reads, ref);
  const auto register_of = [](const Ref& ref) {
    return ref.kind == Ref::Kind::reg ? ref.index : InstructionInfo::kNoRegister;
  };
  info.operands = {register_of(pending.a), register_of(pending.b), register_of(pending.c),
                   register_of(pending.d)};
  info.guard = register_of(pending.guard);
  for (const Ref* ref : {&pending.dst, &pending.dst2}) add(info.writes, *ref);
  for (const Ref& ref : pending.outs) add(info.writes, ref);
  return info;
}

/// Whether an instruction that looks at what other blocks may change can be executed again. It can
/// in any function that is called, and lies between the ends of a jump back in any loop.
bool may_wait_for_blocks(const std::vector<Pending>& code, const ControlFlow& flow) {
  std::size_t first_called = code.size();
  for (const std::uint32_t block : flow.starts) {
    first_called = std::min<std::size_t>(first_called, flow.first[block]);
  }
  std::vector<int> loops(code.size() + 1);  // how many more, or less, than the one before lies in
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    for (const std::uint32_t next : flow.successors[block]) {
      if (next > block) continue;
      ++loops[flow.first[next]];
      --loops[flow.first[block + 1]];
    }
  }
  int around = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    around += loops[i];
    if (code[i].may_wait_for_blocks && (around > 0 || i >= first_called)) return true;
  }
  return false;
}

/// Of each instruction and those behind it in its basic block.
void add_block_slots(LoweredKernel& kernel) {
  const std::vector<InstructionInfo>& all = kernel.info.instructions;
  std::uint32_t behind = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    kernel.code[i].block_slots = behind + all[i].issue_slots();
    behind = all[i].starts_block ? 0 : kernel.code[i].block_slots;
  }
}

/// A load of a kernel's parameters from a place that the assembler does not know.
bool is_indexed_parameter(const Pending& pending, const std::vector<char>& known) {
  return pending.is_memory && pending.cost.cls == InstructionClass::constant_load &&
         pending.a.kind == Ref::Kind::reg && known[pending.a.index] == 0;
}

}  // namespace

/// Lanes that exit in an out-of-line function are, to the others, as if they had returned: where
/// those meet again must not depend on them.
ControlFlow KernelBuilder::find_control_flow(std::vector<std::uint32_t>& block_of) const {
  const std::vector<char> leader = find_leaders(code_, labels_);
  ControlFlow flow;
  block_of.assign(code_.size() + 1, 0);
  for (std::uint32_t i = 0; i < code_.size(); ++i) {
    if (leader[i]) flow.first.push_back(i);
    block_of[i] = static_cast<std::uint32_t>(flow.first.size() - 1);
  }
  const auto blocks = static_cast<std::uint32_t>(flow.first.size());
  block_of[code_.size()] = blocks;
  flow.first.push_back(static_cast<std::uint32_t>(code_.size()));
  flow.successors.resize(blocks);
  for (const OutOfLineBody& body : bodies_) flow.starts.push_back(block_of[labels_[body.entry]]);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const Pending& last = code_[flow.first[block + 1] - 1];
    std::vector<std::uint32_t>& next = flow.successors[block];
    for (const std::uint32_t label : last.labels) next.push_back(block_of[labels_[label]]);
    const bool goes_on = last.flow == Flow::next || last.flow == Flow::branch ||
                         last.flow == Flow::call ||
                         (last.flow == Flow::exit && last.guard.kind != Ref::Kind::none);
    if (goes_on) next.push_back(block + 1);
    if (last.flow == Flow::leave) next.push_back(blocks);
    if (last.flow == Flow::exit) {
      const OutOfLineBody* body = body_at(flow.first[block]);
      next.push_back(body == nullptr ? blocks : block_of[labels_[body->leave]]);
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
  }
  return flow;
}

/// What all instructions of a kernel are placed by.
struct KernelBuilder::Layout {
  ControlFlow flow;
  std::vector<std::uint32_t> block_of;  ///< by instruction
  std::vector<std::uint32_t> post_dominators;
};

template <class Place>
Lowered KernelBuilder::lowered(std::uint32_t index, const Layout& layout, const Place& place) {
  const Pending& pending = code_[index];
  const std::uint32_t block = layout.block_of[index];
  Lowered lowered;
  lowered.run = pending.handler;
  lowered.index = index;
  lowered.dst = place(pending.dst);
  lowered.dst2 = place(pending.dst2);
  lowered.a = place(pending.a);
  lowered.b = place(pending.b);
  lowered.c = place(pending.c);
  lowered.d = place(pending.d);
  lowered.immediate = pending.immediate;
  lowered.option = pending.option;
  lowered.block_length = layout.flow.first[block + 1] - index;
  lowered.list = static_cast<std::uint32_t>(kernel_.lists.size());
  for (const Ref& ref : pending.outs) kernel_.lists.push_back(place(ref));
  for (const Ref& ref : pending.ins) kernel_.lists.push_back(place(ref));
  if (pending.flow == Flow::table) {
    for (const std::uint32_t label : pending.labels) kernel_.lists.push_back(labels_[label]);
  } else if (!pending.labels.empty()) {
    lowered.target = labels_[pending.labels[0]];
  }
  if (ends_block(pending)) {
    const std::uint32_t meet = layout.post_dominators[block];
    const OutOfLineBody* body = body_at(index);
    lowered.reconvergence = meet != layout.flow.blocks() ? layout.flow.first[meet]
                            : body == nullptr            ? kNowhere
                                                         : labels_[body->leave];
  }
  if (pending.guard.kind != Ref::Kind::none) {
    lowered.guard = place(pending.guard);
    lowered.guard_flip = pending.guard_negated ? ~0U : 0U;
    lowered.guarded = lowered.run;
    if (pending.flow == Flow::next) lowered.run = primitives().guarded;
  }
  if (pending.is_memory) {
    lowered.site = static_cast<std::uint32_t>(kernel_.memory_sites.size());
    kernel_.memory_sites.push_back(lowered.index);
  }
  return lowered;
}

void KernelBuilder::refuse_large_memory() {
  constexpr std::uint32_t kMostRegisterBytes = 8U << 20;
  constexpr std::uint32_t kMostLocalBytes = 512U << 10;
  if (kernel_.register_bytes > kMostRegisterBytes) {
    kernel_.info.unsupported.emplace_back("more registers and literals than 8 MiB per warp hold");
  }
  if (std::max(kernel_.info.local_bytes_per_thread, kernel_.frame_bytes_per_thread) >
      kMostLocalBytes) {
    kernel_.info.unsupported.emplace_back("more than 512 KiB of local memory per thread");
  }
}

LoweredKernel KernelBuilder::finish() {
  close_blocks(code_, labels_, primitives().jump);
  Layout layout;
  layout.flow = find_control_flow(layout.block_of);
  layout.post_dominators = immediate_post_dominators(layout.flow);
  const Allocation32 registers = allocate_registers(code_, layout.flow, registers_);

  kernel_.register_bytes = registers.bytes;
  const Placer place(registers, constants_, kernel_.register_bytes);
  kernel_.constants = constants_;
  for (const std::uint32_t reg : registers.live_at_entry) {
    kernel_.zeroed.push_back({registers.offset[reg], slot_bytes(registers_[reg])});
  }
  kernel_.unwritten = registers.live_at_entry;
  for (std::size_t reg = 0; reg < registers_.size(); ++reg) {
    kernel_.registers.push_back(
        {{registers.offset[reg], slot_bytes(registers_[reg])}, registers.lives[reg].last});
  }
  kernel_.control = find_control_state(code_, registers, registers_);
  finish_calls(registers, layout.block_of);

  const std::vector<std::uint8_t> used = find_used_bytes(code_, registers_.size(), constants_);
  const std::vector<ResultUse> uses = find_result_uses(code_, registers_.size(), layout.flow);
  const std::vector<std::uint32_t> origins =
      find_array_origins(code_, registers_.size(), constants_, primitives());
  const std::vector<char> known = find_known_values(code_, registers_.size());
  const std::vector<char> guesses =
      find_guesses(code_, registers_.size(), constants_, layout.flow, layout.block_of,
                   layout.post_dominators, primitives());
  for (std::uint32_t i = 0; i < code_.size(); ++i) {
    const Pending& pending = code_[i];
    kernel_.code.push_back(lowered(i, layout, place));
    kernel_.float_kinds.push_back(pending.cost.kind);
    kernel_.spellings.push_back(pending.spelling);
    kernel_.hidden.push_back(pending.hidden ? 1 : 0);
    InstructionInfo& info = kernel_.info.instructions.emplace_back(describe(pending, constants_));
    if (pending.is_memory) info.used_bytes = used_of_access(pending, used);
    kernel_.code.back().result_use = uses[i];
    info.issues =
        (info.issues || is_indexed_parameter(pending, known)) && uses[i] != ResultUse::never;
    info.shared_array = origins[i];
    info.meets_atomics = guesses[i] != 0 || pending.is_volatile;
    info.reads_unchanged = pending.reads_unchanged;
    info.starts_block = layout.flow.first[layout.block_of[i]] == i;
    if (info.starts_block) ++kernel_.basic_blocks;
    kernel_.code.back().basic_block = kernel_.basic_blocks - 1;
    if (!info.starts_block) continue;
    for (const std::uint32_t block : layout.flow.successors[layout.block_of[i]]) {
      info.leads_to.push_back(layout.flow.first[block]);
    }
  }
  add_block_slots(kernel_);
  kernel_.info.static_shared_bytes = shared_next_;
  kernel_.info.register_estimate = registers.peak_words;
  kernel_.info.may_wait_for_blocks = may_wait_for_blocks(code_, layout.flow);
  if (kernel_.info.may_wait_for_blocks) mark_orders_blocks();
  refuse_large_memory();
  // One message per place: an inlined function would repeat its own.
  auto& refused = kernel_.info.unsupported;
  std::sort(refused.begin(), refused.end());
  refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
  return std::move(kernel_);
}

}  // namespace simgpu
