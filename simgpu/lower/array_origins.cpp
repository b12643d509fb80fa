#include "simgpu/lower/array_origins.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "simgpu/isa/instruction_set.h"

namespace simgpu {
namespace {

/// From which array a value is computed: an array's number, or one of these.
constexpr std::uint32_t kNone = 0;
constexpr std::uint32_t kUnknown = ~0U;  ///< perhaps from several, or from their distance
constexpr std::uint32_t kUnset = ~0U - 1;

std::uint32_t join(std::uint32_t a, std::uint32_t b) {
  if (a == kUnset || a == b) return b;
  return b == kUnset ? a : kUnknown;
}

/// Of a sum; nothing is known of the sum of two addresses.
std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  if (a == kUnset || b == kUnset) return kUnset;
  if (a == kNone) return b;
  return b == kNone ? a : kUnknown;
}

/// What is computed with an address and is no sum.
std::uint32_t combined(std::uint32_t a, std::uint32_t b) {
  if (a == kUnset || b == kUnset) return kUnset;
  return a == kNone && b == kNone ? kNone : kUnknown;
}

class OriginFinder {
 public:
  OriginFinder(const std::vector<Pending>& code, std::size_t registers,
               const std::vector<LoweredKernel::Constant>& constants, const Primitives& primitives)
      : code_(code),
        constants_(constants),
        primitives_(primitives),
        of_register_(registers, kUnset) {}

  void find() {
    constexpr int kMostPasses = 64;
    for (int pass = 0; changed_; ++pass) {
      if (pass == kMostPasses) {
        std::ranges::fill(of_register_, kUnknown);
        return;
      }
      changed_ = false;
      for (const Pending& pending : code_) define(pending);
    }
  }

  std::uint32_t accessed_by(const Pending& pending) const {
    // A bulk copy has the address of its mbarrier, too.
    const bool has_one_address = !pending.spelling.starts_with("cp.async.bulk");
    if (!pending.is_memory || !has_one_address) return 0;
    const std::uint32_t origin = of(pending.a);
    return origin == kUnset || origin == kUnknown ? 0 : origin;
  }

 private:
  std::uint32_t of(const Ref& ref) const {
    if (ref.kind == Ref::Kind::constant) return constants_[ref.index].array;
    return ref.kind == Ref::Kind::reg ? of_register_[ref.index] : kNone;
  }

  void define(const Pending& pending) {
    const bool has_result = pending.dst.kind == Ref::Kind::reg ||
                            pending.dst2.kind == Ref::Kind::reg || !pending.outs.empty();
    if (!has_result) return;
    const std::uint32_t origin = result_of(pending);
    set(pending.dst, origin);
    set(pending.dst2, origin);
    for (const Ref& ref : pending.outs) set(ref, origin);
  }

  void set(const Ref& ref, std::uint32_t origin) {
    if (ref.kind != Ref::Kind::reg) return;
    const std::uint32_t joined = join(of_register_[ref.index], origin);
    changed_ = changed_ || joined != of_register_[ref.index];
    of_register_[ref.index] = joined;
  }

  std::uint32_t result_of(const Pending& pending) const {
    if (pending.is_memory) return loaded_by(pending);
    const std::string_view spelling = pending.hidden ? std::string_view() : pending.spelling;
    const auto is = [&](const char* opcode) { return spelling.starts_with(opcode); };
    const bool has_one_source = pending.b.kind == Ref::Kind::none && pending.ins.empty();
    const bool copies = is("mov.") || is("cvt.") || is("cvta.");
    if ((copies && has_one_source) || is_hidden_copy(pending)) return of(pending.a);
    if (pending.hidden && pending.handler == primitives_.element_address) {
      return sum(of(pending.a), combined(of(pending.b), of(pending.c)));
    }
    const bool carries = is("add.cc") || is("sub.cc") || is("mad.lo.cc") || is("mad.hi.cc");
    if (is("add.") && !carries) return sum(of(pending.a), of(pending.b));
    if (is("sub.") && !carries) return sum(of(pending.a), combined(of(pending.b), kNone));
    if (is("mad.") && !carries) {
      return sum(combined(of(pending.a), of(pending.b)), of(pending.c));
    }
    if (is("selp.")) return join(of(pending.a), of(pending.b));
    std::uint32_t all = kNone;
    for (const Ref* ref : {&pending.a, &pending.b, &pending.c, &pending.d}) {
      all = combined(all, of(*ref));
    }
    for (const Ref& ref : pending.ins) all = combined(all, of(ref));
    return all;
  }

  /// Addresses change their width, or get the place of a variable in a frame.
  bool is_hidden_copy(const Pending& pending) const {
    const std::array copies{primitives_.widen, primitives_.saturate, primitives_.frame_address32,
                            primitives_.frame_address64};
    return pending.hidden && std::ranges::find(copies, pending.handler) != copies.end();
  }

  /// What memory holds is taken for an index, unless it may be the distance of two addresses that
  /// the program keeps in a variable of its own.
  static std::uint32_t loaded_by(const Pending& pending) {
    const std::size_t elements = std::max<std::size_t>(pending.outs.size(), 1);
    const InstructionClass cls = pending.cost.cls;
    const bool is_variable =
        cls == InstructionClass::local_load || cls == InstructionClass::shared_load ||
        cls == InstructionClass::generic_access || cls == InstructionClass::move;
    return is_variable && pending.access_bytes / elements == 8 ? kUnknown : kNone;
  }

  const std::vector<Pending>& code_;
  const std::vector<LoweredKernel::Constant>& constants_;
  const Primitives& primitives_;
  std::vector<std::uint32_t> of_register_;
  bool changed_ = true;
};

}  // namespace

std::vector<std::uint32_t> find_array_origins(const std::vector<Pending>& code,
                                              std::size_t registers,
                                              const std::vector<LoweredKernel::Constant>& constants,
                                              const Primitives& primitives) {
  std::vector<std::uint32_t> origins(code.size(), 0);
  const bool any = std::ranges::any_of(
      constants, [](const LoweredKernel::Constant& constant) { return constant.array != 0; });
  if (!any) return origins;
  OriginFinder finder(code, registers, constants, primitives);
  finder.find();
  for (std::size_t i = 0; i < code.size(); ++i) origins[i] = finder.accessed_by(code[i]);
  return origins;
}

}  // namespace simgpu
