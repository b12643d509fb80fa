#include "simgpu/runtime/caller.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/host_code/build_id.h"

namespace simgpu::runtime {
namespace {

/// A loaded file, by its first and last address.
struct Module {
  std::uintptr_t begin = 0, end = 0;
  std::uintptr_t base = 0;     ///< what its own addresses are moved by
  std::uint64_t build_id = 0;  ///< its first bytes; 0: it has none
};

Module module_of(const dl_phdr_info& info) {
  Module module{.begin = UINTPTR_MAX, .end = 0, .base = info.dlpi_addr, .build_id = 0};
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t first = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, first);
      module.end = std::max(module.end, first + part.p_memsz);
    } else if (part.p_type == PT_NOTE && module.build_id == 0) {
      module.build_id = host_code::build_id_in(
          {reinterpret_cast<const std::byte*>(first), static_cast<std::size_t>(part.p_memsz)});
    }
  }
  return module;
}

/// What this thread knows of the loaded files; read anew when one has come or gone.
class Modules {
 public:
  const Module* find(std::uintptr_t address) {
    const auto known = std::ranges::find_if(modules_, [&](const Module& module) {
      return address >= module.begin && address < module.end;
    });
    return known == modules_.end() ? nullptr : &*known;
  }

  void refresh() {
    unsigned long long changes = 0;  // NOLINT(google-runtime-int): dl_phdr_info's type
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* count) {
          *static_cast<unsigned long long*>(count) = info->dlpi_adds + info->dlpi_subs;
          return 1;
        },
        &changes);
    if (changes == changes_) return;
    changes_ = changes;
    modules_.clear();
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* modules) {
          static_cast<std::vector<Module>*>(modules)->push_back(module_of(*info));
          return 0;
        },
        &modules_);
  }

 private:
  std::vector<Module> modules_;
  unsigned long long changes_ = 0;  // NOLINT(google-runtime-int)
};

struct Walk {
  Modules& modules;
  const Module* own;
  protocol::Caller caller{};
  int frames = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  constexpr int kMostFrames = 48;
  auto& walk = *static_cast<Walk*>(argument);
  int is_before = 0;
  const std::uintptr_t at = _Unwind_GetIPInfo(context, &is_before);
  if (at == 0 || ++walk.frames > kMostFrames) return _URC_END_OF_STACK;
  // Behind a call comes the next line's code.
  const std::uintptr_t call = is_before != 0 ? at : at - 1;
  const Module* const module = walk.modules.find(call);
  if (module == nullptr || module == walk.own || module->build_id == 0) return _URC_NO_REASON;
  walk.caller.frames.at(walk.caller.count++) = {module->build_id, call - module->base};
  return walk.caller.count < walk.caller.frames.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::optional<protocol::Caller>& scope() {
  thread_local std::optional<protocol::Caller> caller;
  return caller;
}

}  // namespace

protocol::Caller current_caller() {
  thread_local Modules modules;
  modules.refresh();
  Walk walk{modules, modules.find(reinterpret_cast<std::uintptr_t>(&current_caller))};
  _Unwind_Backtrace(&visit, &walk);
  return walk.caller;
}

CallerScope::CallerScope(const protocol::Caller& caller) : outer_(scope()) { scope() = caller; }
CallerScope::~CallerScope() { scope() = outer_; }

protocol::Caller caller_while_cheap() {
  constexpr int kMost = 1024;
  thread_local int asked = 0;
  if (asked == kMost) return {};
  ++asked;
  return current_caller();
}

protocol::Caller caller_of_request(bool is_told) {
  if (scope()) return *scope();
  return is_told ? current_caller() : caller_while_cheap();
}

}  // namespace simgpu::runtime
