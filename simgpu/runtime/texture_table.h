#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace simgpu::runtime {

/// What the program asks for again with cudaGetTextureObjectResourceDesc and the like.
struct TextureDescription {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  bool is_surface = false;
};

/// How the program has described its texture and surface objects, by handle.
class TextureTable {
 public:
  void add(std::uint64_t handle, const TextureDescription& description) {
    const std::lock_guard lock(mutex_);
    descriptions_[handle] = description;
  }
  bool find(std::uint64_t handle, bool is_surface, TextureDescription* description) {
    const std::lock_guard lock(mutex_);
    const auto found = descriptions_.find(handle);
    if (found == descriptions_.end() || found->second.is_surface != is_surface) return false;
    *description = found->second;
    return true;
  }
  void remove(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    descriptions_.erase(handle);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    descriptions_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, TextureDescription> descriptions_;
};

}  // namespace simgpu::runtime
