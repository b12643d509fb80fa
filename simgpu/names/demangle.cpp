#include "simgpu/names/demangle.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace simgpu {
namespace {

/// Whether demangling is known to be quick. A substitution (S_, S0_, T_ …) stands for text that may
/// hold substitutions itself, so that a few hundred characters can stand for gigabytes.
bool is_quick_to_demangle(const std::string& mangled) {
  constexpr std::size_t kLongestMangled = 4096;
  constexpr int kMostSubstitutions = 20;  // at most 3 in each of 7 levels: 3^7 times the text
  if (mangled.size() > kLongestMangled) return false;
  int substitutions = 0;
  for (std::size_t i = 0; i < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && std::isalnum(static_cast<unsigned char>(mangled[end])) != 0 &&
           std::islower(static_cast<unsigned char>(mangled[end])) == 0) {
      ++end;
    }
    if (end < mangled.size() && mangled[end] == '_') ++substitutions;
  }
  return substitutions <= kMostSubstitutions;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z") || !is_quick_to_demangle(name)) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? std::string(text.get()) : name;
}

}  // namespace simgpu
