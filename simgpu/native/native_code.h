#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simgpu/lower/lowered.h"
#include "simgpu/native/segment.h"
#include "simgpu/native/translator.h"

namespace simgpu::native {

/// A shared object in this process.
class LoadedObject {
 public:
  /// nullptr when it cannot be loaded or has not this many segments.
  static std::shared_ptr<const LoadedObject> load(std::span<const std::byte> object,
                                                  std::size_t segments);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  SegmentFunction function(std::size_t segment) const { return table_->functions[segment]; }

 private:
  LoadedObject(void* handle, const SegmentTable* table) : handle_(handle), table_(table) {}
  void* handle_;
  const SegmentTable* table_;
};

/// A kernel's instructions, those at which a segment begins replaced by the segment. Warps whose 32
/// lanes are not all active are interpreted there.
class NativeCode {
 public:
  /// @param first index in the object's table of the first of `segments`
  NativeCode(const LoweredKernel& kernel, std::shared_ptr<const LoadedObject> object,
             const std::vector<SegmentSpan>& segments, std::size_t first);

  const Lowered* code() const { return code_.data(); }

 private:
  std::shared_ptr<const LoadedObject> object_;
  std::vector<Lowered> code_;
};

/// A segment's callbacks, for the engine to put into it.
void set_callbacks(Segment& segment);

}  // namespace simgpu::native
