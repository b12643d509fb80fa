#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "simgpu/device/device.h"
#include "simgpu/device/server.h"
#include "simgpu/machine_code/assembler.h"
#include "specs/gpu_spec.h"

namespace {

/// Two thirds of this machine's memory: what a guest touches on the device, we hold.
std::uint64_t default_memory_limit() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 3 * 2;
}

/// Nobody is left to collect a kernel's results once the trusted side is gone, so it need not
/// finish.
void end_with_owner(int control) {
  std::thread([control] {
    pollfd owner{.fd = control, .events = POLLRDHUP, .revents = 0};
    while (poll(&owner, 1, -1) <= 0) {
    }
    _exit(0);
  }).detach();
}

}  // namespace

/// The process of one simulated GPU. It is started by simgpu::DeviceProcess, not by hand.
int main(int argc, char** argv) {
  CLI::App app{"The process of one simulated GPU; `simgpu run` and the grader start it."};
  std::string gpu;
  simgpu::DeviceOptions options;
  options.memory_limit = default_memory_limit();
  simgpu::machine_code::AssemblerOptions assembler;
  int control = -1;
  bool no_checkers = false;
  app.add_option("--gpu", gpu, "GPU specification file")->required();
  app.add_option("--control-fd", control, "connected socket of the trusted side")->required();
  app.add_option("--workers", options.workers, "CPU threads, 0 for one per CPU");
  app.add_option(
      "--instruction-budget", options.instruction_budget,
      "work of the simulator, in warp instructions, after which a launch takes too long");
  app.add_option("--warp-limit-us", options.warp_limit_us,
                 "modelled time after which a warp takes too long, 0 for no limit");
  app.add_option("--host-call-limit", options.host_call_limit,
                 "calls after which the host program takes too long, 0 for no limit");
  app.add_option("--most-registers", options.most_registers,
                 "registers that a thread takes at most, 0 for those of the GPU");
  app.add_flag("--bound-long-launches", options.bounds_long_launches,
               "tell bounds of what takes too long, rather than that it failed");
  app.add_flag("--bound-by-blocks-alone", options.bounds_by_blocks_alone,
               "tell these bounds from some blocks, and do not try to predict the launch");
  app.add_flag("--backwards", options.backwards,
               "where kernels can see the order of warps and blocks, the last ones come first");
  app.add_option("--memory-limit", options.memory_limit, "bytes a guest may allocate");
  app.add_flag("--no-checkers", no_checkers, "start with checkers off");
  app.add_flag("--sampled", options.sampled, "run as few blocks as predict counters and time");
  app.add_flag("--lines", options.lines, "tell what the lines of the source cost");
  app.add_flag("--read-machine-code", options.machine_code,
               "tell how often the machine code of kernels is executed");
  app.add_flag(
      "--time-from-machine-code",
      [&](std::int64_t) { options.time_from = simgpu::TimeFrom::machine_code; },
      "tell times by machine code rather than PTX");
  app.add_option("--ptxas", assembler.command,
                 "ptxas and what runs it, a word each; without, registers are estimated")
      ->allow_extra_args(false);
  app.add_option("--ptxas-version", assembler.version, "what ptxas --version prints");
  app.add_option("--machine-code", assembler.folder, "where to keep what ptxas makes");
  CLI11_PARSE(app, argc, argv);
  options.checkers = !no_checkers;

  std::signal(SIGPIPE, SIG_IGN);
  end_with_owner(control);
  try {
    const simgpu::machine_code::Assembler machine_code(assembler);
    if (!assembler.command.empty()) options.assembler = &machine_code;
    simgpu::Device device(gpu_spec::load(gpu), options);
    simgpu::Server(device, simgpu::Descriptor(control)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "simgpu-device: {}\n", error.what());
    return 3;
  }
  return 0;
}
