#include "simgpu/native/native_code.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/memory_access.h"

namespace simgpu::native {
namespace {

/// What the interpreter does at an instruction, whether or not a segment begins there.
Handler interpreted(const Lowered* in, const Warp& warp) {
  return warp.block->launch().kernel.code[in->index].run;
}

const Lowered* run_segment(const Lowered* in, Warp& warp) {
  if (warp.mask != 0xFFFFFFFFU) return interpreted(in, warp)(in, warp);
  Segment& segment = warp.block->segment();
  segment.regs = warp.regs;
  segment.warp = &warp;
  const std::uint32_t done = in->segment(segment);
  return done != 0 ? in + done : interpreted(in, warp)(in, warp);
}

void learn(Segment& segment, std::uint32_t index, std::uint32_t bytes, const std::uint32_t* base) {
  Warp& warp = *static_cast<Warp*>(segment.warp);
  const Lowered* const in = warp.code + index;
  learn_shared(in, warp, base, in->immediate, bytes);
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

/// From memory, so that what is loaded is what has been checked.
std::shared_ptr<const LoadedObject> LoadedObject::load(std::span<const std::byte> object,
                                                       std::size_t segments) {
  const int file = memfd_create("simgpu-native", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* handle = nullptr;
  if (write_all(file, object)) {
    handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  close(file);
  if (handle == nullptr) return nullptr;
  const auto* table = static_cast<const SegmentTable*>(dlsym(handle, kTableName));
  if (table == nullptr || table->count != segments) {
    dlclose(handle);
    return nullptr;
  }
  return std::shared_ptr<const LoadedObject>(new LoadedObject(handle, table));
}

LoadedObject::~LoadedObject() { dlclose(handle_); }

NativeCode::NativeCode(const LoweredKernel& kernel, std::shared_ptr<const LoadedObject> object,
                       const std::vector<SegmentSpan>& segments, std::size_t first)
    : object_(std::move(object)), code_(kernel.code) {
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    Lowered& begin = code_.at(segments[i].first);
    begin.run = &run_segment;
    begin.segment = object_->function(first + i);
  }
}

void set_callbacks(Segment& segment) { segment.learn = &learn; }

}  // namespace simgpu::native
