#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "simgpu/lower/lowered.h"
#include "simgpu/native/compiler.h"
#include "simgpu/native/native_code.h"
#include "simgpu/native/translator.h"
#include "simgpu/toolchain/code_cache.h"

namespace simgpu::native {

/// What is known of one kernel's native code; LoweredKernel::native. Any thread may look.
struct KernelState {
  enum class Step : std::uint8_t { untouched, not_kept, under_way, ready, none };
  std::atomic<Step> step{Step::untouched};
  std::atomic<std::uint64_t> interpreted{0};  ///< warp instructions, in all launches

  std::mutex mutex;  ///< guards what follows
  std::shared_ptr<const Translation> translation;
  std::size_t kernel = 0;  ///< which one of the translation's
  std::shared_ptr<const LoadedObject> object;
  std::shared_ptr<const NativeCode> code;  ///< made of both by the first launch that takes it
};

struct NativeOptions {
  std::filesystem::path cache =
      toolchain::CodeCache::default_folder("native");  ///< empty: nothing is kept
  /// Warp instructions that are still to be interpreted, from which it is worth looking for a
  /// kernel's code among what is kept (some milliseconds), and compiling it (seconds).
  std::uint64_t worth_looking = 10'000'000;
  std::uint64_t worth_compiling = 600'000'000;
  /// Whoever asks waits: for tests and benchmarks.
  bool waits = false;
};

/// Gets kernels compiled, one after the other, by a thread of its own.
class NativeKernels {
 public:
  explicit NativeKernels(NativeOptions options = {});
  ~NativeKernels();
  NativeKernels(const NativeKernels&) = delete;
  NativeKernels& operator=(const NativeKernels&) = delete;

  const NativeOptions& options() const { return options_; }
  /// Asks for a kernel's code: only what is kept, or compiled if need be. `left` warp instructions
  /// of it are expected to come.
  void ask(const LoweredKernel& kernel, std::uint64_t left);
  /// Compiles all kernels of a program in one go, and waits: much quicker than one by one, for
  /// tests. False when there is no compiler, or it fails.
  bool compile_all(const Program& program);
  /// Whether there is a compiler; asks for it when that is not known.
  bool has_compiler();

 private:
  struct Job {
    std::shared_ptr<KernelState> state;  ///< the kernel itself may be unloaded meanwhile
    std::shared_ptr<const Translation> translation;
    bool compiles = false;
  };
  void start(Job job);
  void work();
  void finish(const Job& job);
  std::shared_ptr<const LoadedObject> object_of(const Translation& translation, bool compiles);
  std::optional<std::vector<std::byte>> compile(const std::string& text);

  const NativeOptions options_;
  const toolchain::CodeCache cache_;
  std::atomic<bool> stop_{false};
  std::once_flag searched_;
  std::optional<Compiler> compiler_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable more_;
  std::deque<Job> jobs_;
  std::thread worker_;
};

/// What one launch has of native code: whether it is there yet, and when to ask for it.
class NativeLaunch {
 public:
  NativeLaunch(NativeKernels& kernels, const LoweredKernel& kernel);

  /// How many blocks are going to run; unknown before this is called.
  void expect(std::uint64_t blocks) { blocks_ = blocks; }
  /// nullptr while there is none.
  std::shared_ptr<const NativeCode> code() const;
  /// A block was interpreted.
  void interpreted(std::uint64_t instructions);

 private:
  NativeKernels& kernels_;
  const LoweredKernel& kernel_;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> done_{0}, instructions_{0};
};

}  // namespace simgpu::native
