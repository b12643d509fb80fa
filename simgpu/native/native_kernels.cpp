#include "simgpu/native/native_kernels.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "simgpu/native/native_headers.h"
#include "simgpu/toolchain/work_folder.h"

namespace simgpu::native {
namespace {

namespace fs = std::filesystem;
using Step = KernelState::Step;

}  // namespace

NativeKernels::NativeKernels(NativeOptions options)
    : options_(std::move(options)), cache_(options_.cache) {}

NativeKernels::~NativeKernels() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true);
  }
  more_.notify_all();
  if (worker_.joinable()) worker_.join();
}

bool NativeKernels::has_compiler() {
  std::call_once(searched_, [&] { compiler_ = Compiler::find(stop_); });
  return compiler_.has_value();
}

void NativeKernels::ask(const LoweredKernel& kernel, std::uint64_t left) {
  KernelState& state = *kernel.native;
  const bool compiles = left >= options_.worth_compiling;
  if (!compiles && left < options_.worth_looking) return;
  // Of several threads that ask, one does.
  Step was = Step::untouched;
  const bool taken = state.step.compare_exchange_strong(was, Step::under_way) ||
                     (compiles && was == Step::not_kept &&
                      state.step.compare_exchange_strong(was, Step::under_way));
  if (!taken) return;
  Job job{.state = kernel.native, .translation = {}, .compiles = compiles};
  {
    const std::lock_guard lock(state.mutex);
    if (!state.translation) {
      const LoweredKernel* const only[] = {&kernel};
      state.translation = std::make_shared<const Translation>(translate(only));
    }
    job.translation = state.translation;
  }
  if (job.translation->functions == 0) {
    state.step.store(Step::none);
  } else if (options_.waits) {
    finish(job);
  } else {
    start(std::move(job));
  }
}

bool NativeKernels::compile_all(const Program& program) {
  std::vector<const LoweredKernel*> kernels;
  for (const auto& [name, kernel] : program.kernels) kernels.push_back(&kernel);
  const auto translation = std::make_shared<const Translation>(translate(kernels));
  if (!has_compiler()) return false;
  std::shared_ptr<const LoadedObject> object;
  if (translation->functions != 0) object = object_of(*translation, true);
  if (translation->functions != 0 && object == nullptr) return false;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelState& state = *kernels[i]->native;
    const std::lock_guard lock(state.mutex);
    state.translation = translation;
    state.kernel = i;
    state.object = object;
    state.step.store(object == nullptr ? Step::none : Step::ready);
  }
  return true;
}

void NativeKernels::start(Job job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
  more_.notify_one();
}

void NativeKernels::work() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return stop_.load() || !jobs_.empty(); });
      if (stop_.load()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      finish(job);
    } catch (const std::exception&) {
      // No disk, no memory: the interpreter does it all.
      job.state->step.store(Step::none);
    }
  }
}

void NativeKernels::finish(const Job& job) {
  KernelState& state = *job.state;
  if (!has_compiler()) {
    state.step.store(Step::none);
    return;
  }
  std::shared_ptr<const LoadedObject> object = object_of(*job.translation, job.compiles);
  if (object == nullptr) {
    state.step.store(job.compiles ? Step::none : Step::not_kept);
    return;
  }
  const std::lock_guard lock(state.mutex);
  state.object = std::move(object);
  state.step.store(Step::ready);
}

std::shared_ptr<const LoadedObject> NativeKernels::object_of(const Translation& translation,
                                                             bool compiles) {
  const std::string key = compiler_->identity() + translation.text;
  const std::size_t segments = translation.functions;
  if (const auto kept = cache_.find(key)) return LoadedObject::load(*kept, segments);
  if (!compiles) return nullptr;
  const auto object = compile(translation.text);
  if (!object) return nullptr;
  cache_.keep(key, *object);
  return LoadedObject::load(*object, segments);
}

std::optional<std::vector<std::byte>> NativeKernels::compile(const std::string& text) {
  const toolchain::WorkFolder folder(cache_.work_folder());
  if (folder.path().empty()) return std::nullopt;
  const fs::path source = folder.path() / "kernel.cpp";
  const fs::path object = folder.path() / "kernel.so";
  std::ofstream(source) << text;
  if (!compiler_->compile(source, object, stop_)) return std::nullopt;
  return toolchain::read_made_file(object);
}

NativeLaunch::NativeLaunch(NativeKernels& kernels, const LoweredKernel& kernel)
    : kernels_(kernels), kernel_(kernel) {
  if (kernels.options().waits) kernels.ask(kernel, ~std::uint64_t{0});
}

std::shared_ptr<const NativeCode> NativeLaunch::code() const {
  KernelState& state = *kernel_.native;
  if (state.step.load() != Step::ready) return nullptr;
  const std::lock_guard lock(state.mutex);
  if (!state.code) {
    const auto& segments = state.translation->segments;
    std::size_t first = 0;
    for (std::size_t i = 0; i < state.kernel; ++i) first += segments[i].size();
    state.code =
        std::make_shared<const NativeCode>(kernel_, state.object, segments[state.kernel], first);
  }
  return state.code;
}

/// What is left is known from the blocks so far; or else, as much as there has been: whoever has
/// run for long will run as long again.
void NativeLaunch::interpreted(std::uint64_t instructions) {
  const std::uint64_t ever = kernel_.native->interpreted += instructions;
  const std::uint64_t done = ++done_;
  const std::uint64_t here = instructions_ += instructions;
  const std::uint64_t left = done < blocks_ ? here / done * (blocks_ - done) : 0;
  kernels_.ask(kernel_, std::max(left, ever));
}

}  // namespace simgpu::native
