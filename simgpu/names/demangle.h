#pragma once

#include <string>

namespace simgpu {

/// "add(int, int)" for "_Z3addii"; a name that is not mangled as it is ("f" is no float), and so
/// one that could stand for far more text than it has: names are a guest's.
std::string demangled(const std::string& name);

}  // namespace simgpu
