#include <algorithm>

#include "simgpu/exec/device_print.h"
#include "simgpu/exec/lane_groups.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/required_lanes.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/lower/passed_names.h"

/// bra, brx.idx, call, ret, exit, trap, bar, membar, nanosleep.
namespace simgpu {
namespace {

constexpr Cost kControl{.cls = InstructionClass::control};
constexpr Cost kBarrier{.cls = InstructionClass::barrier};

const Lowered* jump(const Lowered* in, Warp& warp) { return warp.go(in->target); }

const Lowered* branch_always(const Lowered* in, Warp& warp) {
  ++warp.block->counted.branches;
  return warp.go(in->target);
}

const Lowered* branch(const Lowered* in, Warp& warp) {
  MemoryCounts& counts = warp.block->counted;
  ++counts.branches;
  const std::uint32_t taken = executing_lanes(*in, warp);
  if (taken == warp.active) return warp.go(in->target);
  if (taken == 0) return warp.go(in->index + 1);
  ++counts.divergent_branches;
  if (warp.block->checkers != nullptr) warp.block->departures.note(in, warp);
  return warp.go(warp.stack.split(taken, in->target, in->index + 1, in->reconvergence));
}

/// brx.idx: lanes part by their index into the table; a is the index, option the table's length.
const Lowered* branch_table(const Lowered* in, Warp& warp) {
  MemoryCounts& counts = warp.block->counted;
  ++counts.branches;
  const Word32* const index = words(warp, in->a);
  const auto target_of = [&](unsigned lane) {
    if (index[lane] >= in->option) {
      warp.block->failures.fail(
          in, warp, lane,
          {.code = "RL0311",
           .message = "A branch table of " + std::to_string(in->option) +
                      " targets is used with index " + std::to_string(index[lane])});
    }
    return warp.lists[in->list + index[lane]];
  };
  std::uint32_t left = warp.active;
  std::uint32_t next = 0;
  bool divergent = false;
  while (true) {
    const std::uint32_t target = target_of(static_cast<unsigned>(__builtin_ctz(left)));
    std::uint32_t same = 0;
    for (std::uint32_t bits = left; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bits));
      if (target_of(lane) == target) same |= 1U << lane;
    }
    if (same == left) {
      next = target;
      break;
    }
    // The lanes with this target wait in the stack until the others have been there.
    divergent = true;
    left &= ~same;
    next = warp.stack.split(left, in->index, target, in->reconvergence);
  }
  if (divergent) ++counts.divergent_branches;
  return warp.go(next);
}

const Lowered* exit_lanes(const Lowered* in, Warp& warp) {
  const std::uint32_t leaving = executing_lanes(*in, warp);
  if (leaving == 0) return warp.go(in->index + 1);
  warp.dead |= leaving;
  if (in->guarded != nullptr && warp.block->checkers != nullptr) {
    warp.block->departures.note(in, warp);
  }
  std::uint32_t next = warp.stack.end_lanes(leaving, in->index + 1);
  while (next == kNowhere && !warp.calls.empty()) {
    warp.calls.drop(warp);
    if (!warp.stack.empty()) next = warp.stack.next();
  }
  if (next == kNowhere) {
    warp.state = WarpState::done;
    warp.resume = in;
    return nullptr;
  }
  return warp.go(next);
}

const Lowered* run_guarded(const Lowered* in, Warp& warp) {
  const std::uint32_t mask = executing_lanes(*in, warp);
  if (mask == 0) return in + 1;
  warp.mask = mask;
  const Lowered* next = in->guarded(in, warp);
  // Not before: the instruction may have to be tried again.
  warp.guarded_threads[in->index] += static_cast<std::uint32_t>(std::popcount(mask));
  warp.mask = warp.active;
  return next;
}

const Lowered* trap(const Lowered* in, Warp& warp) {
  warp.block->failures.fail(
      in, warp, static_cast<unsigned>(__builtin_ctz(warp.mask)),
      {.code = "RL0311", .message = "The kernel stopped itself with a trap", .action = "traps"});
}

const Lowered* nothing(const Lowered* in, Warp&) { return in + 1; }

/// Lets other warps go on: whoever sleeps waits for them. a is for how many nanoseconds; the warp
/// goes on when its last lane does.
const Lowered* sleep(const Lowered* in, Warp& warp) {
  constexpr std::uint32_t kMost = 1'000'000;  // PTX ISA, nanosleep
  std::uint32_t longest = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    longest = std::max(longest, words(warp, in->a)[__builtin_ctz(left)]);
  }
  longest = std::min(longest, kMost);
  warp.slept_ns += longest;
  warp.block->counted.slept_ns += longest;
  return warp.give_way(in + 1, Warp::Waiting::unknown);
}

/// Behind a load that may be one of many which wait for another thread's store: other warps go on
/// first. a is what was loaded, option bytes of it; b the addresses, immediate bytes of them.
const Lowered* poll(const Lowered* in, Warp& warp) {
  const std::size_t size = in->option;
  const auto addresses = static_cast<std::size_t>(in->immediate);
  const std::span<const std::byte> loaded{warp.regs + in->a, size};
  const std::span<const std::byte> from{warp.regs + in->b, addresses};
  const bool same = warp.poll.repeats(in, loaded, from);
  warp.tries.note(in, loaded, from, false, warp.block->changes.effects());
  if (warp.block->launch.asks_take_turns && warp.block->vain_looks[warp.index].note(in, warp)) {
    return warp.give_way(in + 1, Warp::Waiting::for_good);
  }
  return warp.give_way(in + 1, same ? Warp::Waiting::yes : Warp::Waiting::no);
}

/// Behind an atomic that may have told the warp which work is its own: the others ask, too, before
/// it goes on.
const Lowered* ask(const Lowered* in, Warp& warp) {
  if (!warp.block->launch.asks_take_turns) [[likely]]
    return in + 1;
  const bool in_vain = warp.block->vain_looks[warp.index].note(in, warp);
  return warp.give_way(in + 1, in_vain ? Warp::Waiting::for_good : Warp::Waiting::no);
}

/// Memory is sequentially consistent here: the checkers need to know, and the clocks. kOfGpu:
/// between blocks.
template <bool kOfGpu>
const Lowered* fence(const Lowered* in, Warp& warp) {
  if (kOfGpu) {
    warp.block->traffic.fence();
    warp.load_cycles += kCyclesBeyondL1;  // it comes back when L2 has all that went before
  }
  if (BlockCheckers* checkers = warp.block->checkers.get()) checkers->fence(warp.index);
  return in + 1;
}

// Barriers.

/// Which barrier, and for how many threads: literals or registers that are the same in all lanes.
struct BarrierOperands {
  std::uint32_t barrier = 0, threads = 0;
};

BarrierOperands read_barrier(const Lowered* in, Warp& warp) {
  BarrierOperands operands;
  const auto lane = static_cast<unsigned>(__builtin_ctz(warp.mask));
  operands.barrier = words(warp, in->a)[lane];
  operands.threads = in->option == 0 ? 0 : words(warp, in->b)[lane];
  if (operands.barrier >= Barriers::kCount || operands.threads % kWarpSize != 0) {
    warp.block->failures.fail(
        in, warp, lane,
        {.code = "RL0305",
         .message = "Barrier " + std::to_string(operands.barrier) + " with " +
                    std::to_string(operands.threads) +
                    " threads: a block has barriers 0 to 15, and threads come in warps of 32"});
  }
  return operands;
}

const Lowered* barrier_wait(const Lowered* in, Warp& warp) {
  const BarrierOperands operands = read_barrier(in, warp);
  require_whole_warp(in, warp, true);
  ++warp.block->counted.barriers;
  return Barriers::wait(warp, in, operands.barrier, operands.threads);
}

const Lowered* barrier_arrive(const Lowered* in, Warp& warp) {
  const BarrierOperands operands = read_barrier(in, warp);
  require_whole_warp(in, warp, true);
  ++warp.block->counted.barriers;
  warp.block->barriers.arrive(warp, operands.barrier);
  return in + 1;
}

/// bar.red, first half: collects the votes and waits; the second half, the next instruction, reads
/// the result.
const Lowered* barrier_vote(const Lowered* in, Warp& warp) {
  const BarrierOperands operands = read_barrier(in, warp);
  require_whole_warp(in, warp, true);
  ++warp.block->counted.barriers;
  const std::uint32_t votes = (predicate(warp, in->c)) & warp.mask;
  warp.block->barriers.vote(operands.barrier, warp.mask, votes);
  return Barriers::wait(warp, in, operands.barrier, operands.threads);
}

enum class Vote : std::uint32_t { population, all, any };

const Lowered* barrier_result(const Lowered* in, Warp& warp) {
  const auto lane = static_cast<unsigned>(__builtin_ctz(warp.mask));
  const Barriers::Reduction& result = warp.block->barriers.votes(words(warp, in->a)[lane]);
  switch (static_cast<Vote>(in->option)) {
    case Vote::population:
      for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
        words(warp, in->dst)[__builtin_ctz(left)] = result.population;
      }
      break;
    case Vote::all:
      write_predicate(warp, in->dst, result.all ? ~0U : 0U);
      break;
    case Vote::any:
      write_predicate(warp, in->dst, result.any ? ~0U : 0U);
      break;
  }
  return in + 1;
}

/// bar.warp.sync: all named lanes that have not exited have to be here; a is the mask of lanes.
const Lowered* warp_barrier(const Lowered* in, Warp& warp) {
  each_lane_group(in, warp, in->a, [](std::uint32_t, std::uint32_t) {});
  return in + 1;
}

// Building.

void build_branch(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (builder.operand_count() != 1) builder.refuse(instruction.spelling());
  const auto* label = std::get_if<ptx::LabelRef>(&instruction.operands[0].elements.at(0));
  if (label == nullptr) builder.refuse(instruction.spelling() + " to an address");
  const bool conditional = instruction.guard.has_value();
  Pending& pending = builder.emit(conditional ? &branch : &branch_always, kControl);
  pending.flow = conditional ? Flow::branch : Flow::jump;
  pending.labels = {builder.label(label->target)};
}

void build_branch_table(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (!instruction.has("idx") || instruction.guard || builder.operand_count() != 2) {
    builder.refuse(instruction.spelling());
  }
  const ptx::Scalar& name = instruction.operands[1].elements.at(0);
  const auto* symbol = std::get_if<ptx::Symbol>(&name);
  const auto& tables = builder.instance().function->branch_targets;
  const auto table = std::find_if(tables.begin(), tables.end(), [&](const auto& entry) {
    return symbol != nullptr && entry.first == symbol->name;
  });
  if (table == tables.end() || table->second.empty()) builder.refuse(instruction.spelling());
  const Ref index = builder.source(std::size_t{0}, 'i');
  Pending& pending = builder.emit(&branch_table, kControl);
  pending.flow = Flow::table;
  pending.a = index;
  pending.option = static_cast<std::uint32_t>(table->second.size());
  for (const std::uint32_t target : table->second) pending.labels.push_back(builder.label(target));
}

void build_return(KernelBuilder& builder) {
  if (builder.instance().is_kernel) {
    builder.emit(&exit_lanes, kControl).flow = Flow::exit;
    return;
  }
  const bool conditional = builder.instruction().guard.has_value();
  Pending& pending = builder.emit(conditional ? &branch : &branch_always, kControl);
  pending.flow = conditional ? Flow::branch : Flow::jump;
  pending.labels = {builder.return_label()};
}

void build_exit(KernelBuilder& builder) { builder.emit(&exit_lanes, kControl).flow = Flow::exit; }

void build_trap(KernelBuilder& builder) { builder.emit(&trap, kControl); }

void build_call(KernelBuilder& builder) {
  const CallOperands operands = call_operands(builder.instruction());
  if (operands.callee == nullptr) builder.refuse(builder.instruction().spelling());
  if (std::holds_alternative<ptx::RegisterRef>(*operands.callee)) {
    const PassedNames names(builder, operands, nullptr);
    const Ref address = builder.source(*operands.callee, 'l');
    return builder.call_indirectly(address, operands.table, names.arguments(), names.results());
  }
  const auto* callee = std::get_if<ptx::Symbol>(operands.callee);
  if (callee == nullptr) builder.refuse(builder.instruction().spelling());
  const ptx::Function* function = builder.module().find_function(callee->name);
  const PassedNames names(builder, operands, function);
  if (!build_system_call(builder, callee->name, names.arguments(), names.results())) {
    if (function == nullptr || function->is_declaration) {
      builder.refuse("call of " + callee->name + ", which has no body in this module");
    }
    builder.call(*function, names.arguments(), names.results());
  }
  names.load_results(builder);
}

void build_barrier(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const auto has = [&](const char* modifier) { return instruction.has(modifier); };
  if (has("warp")) {
    const Ref named = builder.source(std::size_t{0}, 'i');
    // Nothing is exchanged: an issue slot.
    builder.emit(&warp_barrier, {.cls = InstructionClass::warp_exchange, .sequence = {.rest = 1}})
        .a = named;
    return;
  }
  const std::size_t fewest = has("red") ? 3 : has("arrive") ? 2 : 1;
  if (builder.operand_count() < fewest || builder.operand_count() > (has("red") ? 4U : 2U)) {
    builder.refuse(instruction.spelling() + " with " + std::to_string(builder.operand_count()) +
                   " operands");
  }
  if (has("red")) {
    const bool counts = has("popc");
    const std::size_t last = builder.operand_count() - 1;
    const Ref barrier = builder.source(std::size_t{1}, 'i');
    const Ref threads = last > 2 ? builder.source(std::size_t{2}, 'i') : Ref{};
    const Ref vote = builder.source(last, 'p');
    const Ref result = builder.destination(std::size_t{0}, counts ? 'i' : 'p');
    Pending& collect = builder.emit(&barrier_vote, kBarrier);
    collect.a = barrier;
    collect.b = threads;
    collect.option = last > 2 ? 1 : 0;
    collect.c = vote;
    Pending& read = builder.emit_hidden(&barrier_result, true);
    read.a = barrier;
    read.dst = result;
    read.option = static_cast<std::uint32_t>(counts       ? Vote::population
                                             : has("and") ? Vote::all
                                                          : Vote::any);
    return;
  }
  const bool arrives = has("arrive");
  const Ref barrier = builder.source(std::size_t{0}, 'i');
  const Ref threads = builder.operand_count() > 1 ? builder.source(std::size_t{1}, 'i') : Ref{};
  Pending& pending = builder.emit(arrives ? &barrier_arrive : &barrier_wait, kBarrier);
  pending.a = barrier;
  pending.b = threads;
  pending.option = builder.operand_count() > 1 ? 1 : 0;
}

void build_fence(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const bool of_gpu = instruction.has("gl") || instruction.has("gpu") || instruction.has("sys");
  if (instruction.has("sys")) builder.mark_signals_host();
  builder.emit(of_gpu ? &fence<true> : &fence<false>,
               {.cls = InstructionClass::other, .fences = of_gpu});
}

void build_event(KernelBuilder& builder) {
  builder.emit(&nothing, {.cls = InstructionClass::other});
}

void build_sleep(KernelBuilder& builder) {
  const Ref nanoseconds = builder.source(std::size_t{0}, 'i');
  builder.emit(&sleep, {.cls = InstructionClass::other}).a = nanoseconds;
}

}  // namespace

namespace hidden {
const Handler kJump = &jump;
const Handler kBranch = &branch;
const Handler kBranchAlways = &branch_always;
const Handler kExit = &exit_lanes;
const Handler kGuarded = &run_guarded;
const Handler kPoll = &poll;
const Handler kAsk = &ask;
}  // namespace hidden

OpcodeFile control_opcodes() {
  return {
      .built = {{"bra", build_branch, {"[uni]"}},
                {"brx", build_branch_table, {"idx [uni]"}},
                {"ret", build_return, {"[uni]"}},
                {"exit", build_exit},
                {"trap", build_trap},
                {"brkpt", build_trap},
                {"call", build_call, {"[uni]"}},
                {"bar",
                 build_barrier,
                 {"[cta] sync|arrive", "[cta] red popc u32", "[cta] red and|or pred", "warp sync"}},
                {"barrier",
                 build_barrier,
                 {"[cta] sync|arrive [aligned]", "[cta] red popc [aligned] u32",
                  "[cta] red and|or [aligned] pred"}},
                {"membar", build_fence, {"cta|gl|sys", "proxy alias"}},
                {"fence",
                 build_fence,
                 {"[sc|acq_rel|acquire|release] cta|cluster|gpu|sys", "proxy alias|async",
                  "proxy async global|shared::cta", "mbarrier_init release cluster"}},
                {"nanosleep", build_sleep, {"u32"}},
                {"pmevent", build_event, {"[mask]"}},
                // What one warp may have of the registers, and when the next kernel may begin:
                // neither changes a result here.
                {"setmaxnreg", build_event, {"inc|dec sync aligned u32"}},
                {"griddepcontrol", build_event, {"launch_dependents|wait"}}}};
}

}  // namespace simgpu
