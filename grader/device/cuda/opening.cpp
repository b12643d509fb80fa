#include "grader/device/cuda/opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/cuda/placement.h"
#include "grader/device/toolkit_libraries.h"
#include "grader/guest/proof.h"

namespace rooflab {
namespace {

using Words = std::array<std::uint32_t, kProofElements>;

constexpr std::chrono::seconds kTimeLimit{60};  // a machine may be busy; a GPU that hangs is told
constexpr std::uint32_t kNotWritten = 0xffffffff;

bool is_wsl(const SystemFolders& system) {
  std::error_code error;
  if (std::filesystem::exists(system.dev / "dxg", error)) return true;
  std::string version;
  std::getline(std::ifstream(system.proc / "version"), version);
  return version.find("microsoft") != std::string::npos;
}

/// What to do about an error of CUDA, whatever step it comes in.
struct KnownError {
  const char* name;
  const char* remedy;
};
constexpr KnownError kKnownErrors[] = {
    {"cudaErrorMps",
     "stop the daemon of CUDA's Multi-Process Service (echo quit | nvidia-cuda-mps-control)"},
    {"cudaErrorDevicesUnavailable",
     "run `nvidia-smi -c DEFAULT` as root, and end the program that has the GPU for itself"},
    {"cudaErrorInsufficientDriver",
     "install driver 580 or later, and restart the machine after an upgrade"},
    {"cudaErrorSystemDriverMismatch", "restart the machine after the upgrade of its driver"},
    {"cudaErrorUnsupportedPtxVersion",
     "install a driver that is as new as the CUDA toolkit, or a toolkit that is as old"},
    {"cudaErrorNoKernelImageForDevice",
     "add the GPU's compute capability to ROOFLAB_GPU_ARCHITECTURES (cmake -D) and build again"},
    {"cudaErrorMemoryAllocation", "end the programs that fill the GPU's memory (see nvidia-smi)"},
};

class Proof {
 public:
  Proof(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
        const OpenedGpu& gpu)
      : api_(api), options_(options), gpu_(gpu) {}

  std::string make_pool() {
    try {
      api_->require_shared_pools(gpu_.index);
      api_->use(gpu_.index);
      pool_.emplace(api_, gpu_.index);
      memory_ = api_->export_pool(pool_->get());
      x_.emplace(api_, *pool_, sizeof(Words));
      y_.emplace(api_, *pool_, sizeof(Words));
      for (std::uint32_t i = 0; i < kProofElements; ++i) input_[i] = i * i + 1;
      api_->copy_to_device(x_->address(), input_.data(), sizeof input_);
      api_->fill(y_->address(), 0xff, sizeof(Words));
      api_->synchronize();
    } catch (const DeviceError& error) {
      fail(refusal_in(error.what()).reason, sharing_remedy());
    }
    return "made, filled and exported";
  }

  std::string start_guest() {
    const GpuNodes nodes =
        options_.sandbox ? guest_nodes(gpu_, options_.system, false) : GpuNodes();
    guest_.emplace(gpu_guest_setup(*api_, options_, gpu_,
                                   {.library = {},
                                    .libraries = options_.course_libraries,
                                    .time_limit = kTimeLimit,
                                    .memory = memory_.get()}));
    if (!nodes.missing.empty() && !is_wsl(options_.system)) {
      ask({}, "and there is no " + nodes.missing,
          "start the container with its GPUs (docker run --gpus all), or run `nvidia-modprobe -u "
          "-c 0` as root where there is none");
    }
    ask({}, "",
        is_wsl(options_.system)
            ? sharing_remedy()
            : "try --no-sandbox to see whether the sandbox keeps it from the device");
    return nodes.paths.empty() ? "uses the GPU" : "uses the GPU by " + names_of(nodes);
  }

  std::string share_memory() {
    ask(with_tensors(), "", sharing_remedy());
    return "opened by the guest";
  }

  std::string run_kernel() {
    Call call = with_tensors();
    call.proves_kernel = true;
    ask(call, "", "see whether nvidia-smi and other CUDA programs work");
    Words results;
    api_->synchronize();
    api_->copy_to_host(results.data(), y_->address(), sizeof results);
    for (std::uint32_t i = 0; i < kProofElements; ++i) {
      if (results[i] == proof_of(input_[i], i)) continue;
      const bool unwritten = results[i] == kNotWritten;
      fail(unwritten ? "what a guest's kernel writes does not arrive in our memory"
                     : fmt::format("a kernel computes {} where {} is right", results[i],
                                   proof_of(input_[i], i)),
           unwritten ? sharing_remedy()
                     : "look for faults of the memory (nvidia-smi -q -d ECC), and use another GPU");
    }
    return fmt::format("{} results of machine code are right", kProofElements);
  }

  std::string time_events() {
    Call call;
    call.measured = true;
    const Reply reply = ask(call, "", "see whether nvidia-smi and other CUDA programs work");
    if (!std::isfinite(reply.elapsed_us) || reply.elapsed_us < 0) {
      fail(fmt::format("two events are {} us apart", reply.elapsed_us), "use another driver");
    }
    return fmt::format("{:.1f} us apart with nothing between them", reply.elapsed_us);
  }

  std::string load_libraries() {
    load_in_guest(*guest_, options_.course_libraries);
    std::vector<std::string> names = options_.course_libraries;
    for (std::string& name : names) {
      if (name == "nvrtc" && !api_->loads_ptx()) name += ", whose PTX this driver does not load";
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

 private:
  [[noreturn]] static void fail(const std::string& reason, const std::string& remedy) {
    throw DeviceError(fmt::format("{}; {}, or use --device sim", reason, remedy));
  }

  std::string sharing_remedy() const {
    if (is_wsl(options_.system)) {
      return "grade on a machine that runs Linux itself: this is Windows' WSL, where processes do "
             "not share a GPU's memory as a guest has to";
    }
    return gpu_.description.uuid.starts_with("MIG-")
               ? "grade on a whole GPU (nvidia-smi -mig 0), not on a slice of one"
               : "use NVIDIA's driver for Linux, 580 or later, on a GPU that is not a virtual one";
  }

  static std::string names_of(const GpuNodes& nodes) {
    std::vector<std::string> names;
    for (const auto& path : nodes.paths) names.push_back(path.filename());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Call with_tensors() const {
    Call call;
    call.tensors["x"] = {0, api_->export_pointer(x_->address())};
    call.tensors["y"] = {0, api_->export_pointer(y_->address())};
    return call;
  }

  /// @param besides of the machine, which may explain a failure
  /// @param otherwise the remedy for errors that say nothing more
  Reply ask(const Call& call, const std::string& besides, const std::string& otherwise) {
    const std::optional<Reply> reply = guest_->call(call);
    if (reply && reply->cuda_error.empty()) return *reply;
    std::string reason;
    if (reply) {
      reason = objection_in(*reply);
    } else {
      const SandboxOutcome end = guest_->end();
      reason = fmt::format("the guest process ended before it answered ({}) and said: {}",
                           end.limit == LimitHit::none
                               ? fmt::format("exit code {}, signal {}", end.exit_code,
                                             end.killed_by_us ? 0 : end.signal)
                               : std::string(name_of(end.limit)) + " limit",
                           end.output.substr(0, 500));
    }
    std::string remedy = otherwise;
    for (const KnownError& known : kKnownErrors) {
      if (reason.find(known.name) != std::string::npos) remedy = known.remedy;
    }
    fail(besides.empty() ? reason : reason + ", " + besides, remedy);
  }

  std::shared_ptr<const CudaApi> api_;
  const DeviceOptions& options_;
  const OpenedGpu& gpu_;
  std::optional<SharedPool> pool_;
  Descriptor memory_;
  std::optional<PlacedBuffer> x_, y_;
  Words input_{};
  std::optional<GuestProcess> guest_;  // it ends before its memory does
};

}  // namespace

void prove_opening(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
                   const OpenedGpu& gpu, const OpeningSteps& steps) {
  const GpuLock alone(gpu.description.pci_address, options.gpu_locks, options.progress);
  Proof proof(api, options, gpu);
  steps.take("memory pool", [&] { return proof.make_pool(); });
  steps.take("guest", [&] { return proof.start_guest(); });
  steps.take("shared memory", [&] { return proof.share_memory(); });
  steps.take("kernel", [&] { return proof.run_kernel(); });
  steps.take("events", [&] { return proof.time_events(); });
  if (!options.course_libraries.empty()) {
    steps.take("libraries", [&] { return proof.load_libraries(); });
  }
}

}  // namespace rooflab
