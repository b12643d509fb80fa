#include "simgpu/device/kernel_names.h"

#include <utility>

#include "simgpu/names/demangle.h"

namespace simgpu {
namespace {

/// Each launch is recorded under its kernel's name.
std::string clipped(std::string name) {
  constexpr std::size_t kLongestShown = 1000;
  if (name.size() <= kLongestShown) return name;
  name.resize(kLongestShown - 3);
  return name + "...";
}

}  // namespace

std::string kernel_display_name(const std::string& mangled) {
  std::string name = demangled(mangled);
  if (name == mangled) return clipped(mangled);

  // Drop the parameter list: the last parenthesis that opens outside of template arguments.
  int angle = 0;
  std::size_t last_open = std::string::npos;
  std::size_t name_start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++angle;
    if (name[i] == '>') --angle;
    if (angle != 0) continue;
    if (name.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
      continue;
    }
    if (name[i] == ' ' && last_open == std::string::npos) name_start = i + 1;
    if (name[i] == '(' && last_open == std::string::npos) last_open = i;
  }
  if (last_open != std::string::npos) name.resize(last_open);
  name.erase(0, std::min(name_start, name.size()));
  // nvcc puts what has internal linkage into a namespace of its own: _INTERNAL_<hash>_<file>.
  if (name.starts_with("_INTERNAL_") && name.find("::") != std::string::npos) {
    name.erase(0, name.find("::") + 2);
  }
  return clipped(std::move(name));
}

void name_calls(Finding& finding) {
  const auto name_in = [](AccessSite& site) {
    for (InlinedCall& call : site.inlined_at) call.function = kernel_display_name(call.function);
  };
  name_in(finding.where);
  if (finding.other) name_in(*finding.other);
}

}  // namespace simgpu
