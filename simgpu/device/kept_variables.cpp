#include "simgpu/device/kept_variables.h"

#include <cstring>

namespace simgpu {

void KeptVariables::keep(const LoadedModule& module, const DeviceMemory& memory) {
  for (const auto& [name, symbol] : module.symbols) {
    std::vector<std::byte>& content = contents_[symbol.address];
    if (content.empty()) {
      if (symbol.bytes > kMostBytes - bytes_) continue;
      bytes_ += symbol.bytes;
      content.resize(symbol.bytes);
    }
    memory.read(symbol.address, content);
  }
}

void KeptVariables::restore(DeviceMemory& memory) const {
  for (const auto& [address, content] : contents_) {
    // Its module may have been unloaded since.
    if (content.empty() || memory.find(address, content.size()) == nullptr) continue;
    if (std::memcmp(memory.host(address), content.data(), content.size()) == 0) continue;
    memory.write(address, content);
  }
}

}  // namespace simgpu
