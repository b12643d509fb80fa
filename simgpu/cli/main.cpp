#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simgpu/cli/cuda_of_program.h"
#include "simgpu/cli/explore.h"
#include "simgpu/cli/guest_program.h"
#include "simgpu/cli/host_tool.h"
#include "simgpu/cli/report_file.h"
#include "simgpu/cli/sarif_file.h"
#include "simgpu/cli/story.h"
#include "simgpu/cli/trace_file.h"
#include "simgpu/device/device_process.h"
#include "simgpu/host_code/host_lines.h"
#include "simgpu/machine_code/assembler.h"
#include "simgpu/model/explanation.h"
#include "simgpu/replay/names.h"
#include "simgpu/replay/page.h"
#include "simgpu/source/early_returns.h"
#include "simgpu/toolchain/code_cache.h"
#include "specs/gpu_spec.h"

namespace {

constexpr int kFindings = 86;  ///< exit code of a program that ended well but had findings
constexpr int kUsage = 2;
constexpr int kFault = 3;

struct Options {
  std::string gpu = "a100";
  std::string check = "all";
  std::string report, sarif, trace, explore;
  std::string time_from = "machine-code";
  std::string ptxas;  ///< a file, "none", or empty: the one beside nvcc
  bool sample = false;
  bool backwards = false;
  bool explain = false;
  std::uint64_t instruction_budget = 20'000'000'000;
  double warp_limit_ms = 500;
  std::uint64_t host_call_limit = 0;
  std::vector<std::string> command;
};

/// On stderr. Where nobody reads that any more, as behind `2>&1 | head`, the text is lost and
/// nothing else: files are still written and the exit code stays.
void say_text(const std::string& text) { std::fputs(text.c_str(), stderr); }

template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Writing into a pipe that nobody reads fails, and ends this process no longer. It is a handler
/// and not SIG_IGN since the program that is run then finds the signal as it was: exec resets
/// handlers.
void outlive_closed_pipes() {
  struct sigaction before {};
  sigaction(SIGPIPE, nullptr, &before);
  if (before.sa_handler == SIG_DFL) std::signal(SIGPIPE, [](int) {});
}

/// Where the files beside this executable lie, in the build tree or installed.
struct Places {
  std::filesystem::path device_program, libraries, specifications;
};

/// The checkout for which a build tree outside of it was configured, as a file there says.
std::filesystem::path configured_checkout(const std::filesystem::path& build) {
  std::string folder;
  std::getline(std::ifstream(build / "checkout_folder"), folder);
  return folder;
}

Places find_places() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  Places places{.device_program = folder / "simgpu-device",
                .libraries = folder.parent_path() / "lib" / "simgpu",
                .specifications = {}};
  for (const std::filesystem::path& candidate :
       {folder / "../share/simgpu/gpus", folder / "../../specs/gpus",
        configured_checkout(folder.parent_path()) / "specs/gpus"}) {
    if (std::filesystem::is_directory(candidate)) {
      places.specifications = candidate;
      break;
    }
  }
  return places;
}

/// Without checkers only the limits of the simulated GPU itself are told; illegal accesses and the
/// like reach the program as CUDA's errors, and nobody else.
void keep_what_is_no_check(std::vector<simgpu::Finding>& findings) {
  std::erase_if(findings, [](const simgpu::Finding& finding) {
    return finding.kind() != simgpu::FindingKind::unsupported;
  });
}

/// Each kernel once, with its slowest launch, slowest first.
void explain(const simgpu::Activity& activity, int sm_count) {
  std::map<std::string, const simgpu::KernelRecord*> slowest;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    const simgpu::KernelRecord*& known = slowest[kernel.name];
    if (known == nullptr || kernel.time.total_us > known->time.total_us) known = &kernel;
  }
  std::vector<const simgpu::KernelRecord*> kernels;
  for (const auto& [name, kernel] : slowest) kernels.push_back(kernel);
  std::ranges::stable_sort(
      kernels, [](const auto* a, const auto* b) { return a->time.total_us > b->time.total_us; });
  for (const simgpu::KernelRecord* kernel : kernels) {
    say_text(simgpu::explain_in_words(*kernel, sm_count));
    if (const simgpu::LineTable* const table = simgpu::lines_of(activity, *kernel)) {
      say_text(simgpu::cli::hottest_lines(*table));
    }
  }
}

/// The device must outlive the signals that the terminal and time limits send to all processes: it
/// knows what happened.
class WithoutSignals {
 public:
  WithoutSignals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ignore, &before_[i]);
  }
  ~WithoutSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

simgpu::DeviceProcess start_device(const simgpu::DeviceProcessOptions& options) {
  const WithoutSignals inherited;
  return simgpu::DeviceProcess::start(options);
}

/// What is known at once: in the middle of a kernel a device answers only when that has ended.
simgpu::Activity collect_soon(simgpu::DeviceProcess& device) {
  constexpr std::chrono::seconds kSoon{5};
  std::binary_semaphore done{0};
  const std::jthread watch([&] {
    if (!done.try_acquire_for(kSoon)) device.kill();
  });
  simgpu::Activity activity;
  activity.guest_connected = true;
  try {
    activity = device.collect();
  } catch (const simgpu::DeviceProcessError&) {
    say("simgpu: a kernel was still running; nothing is known of it\n");
  }
  done.release();
  return activity;
}

/// The ptxas that makes machine code of the program's PTX, whatever the program brings along.
simgpu::machine_code::AssemblerOptions assembler_of(const Options& options) {
  namespace machine_code = simgpu::machine_code;
  if (options.ptxas == "none") return {};
  const std::filesystem::path ptxas =
      options.ptxas.empty() ? machine_code::find_ptxas() : std::filesystem::path(options.ptxas);
  if (ptxas.empty()) return {};
  const std::string version = machine_code::version_of(ptxas);
  if (version.empty()) {
    throw std::runtime_error(fmt::format("{} --version fails", ptxas.string()));
  }
  return {.command = {std::filesystem::absolute(ptxas).string()},
          .version = version,
          .folder = simgpu::toolchain::CodeCache::default_folder("machine_code")};
}

/// The program once more, as it was run, but for what it prints: what the simulated GPU does is the
/// same each time, so that what was found then is recorded now.
void write_replay(const Options& options, const simgpu::DeviceProcessOptions& device_options,
                  const Places& places, const std::vector<simgpu::Finding>& findings) {
  namespace replay = simgpu::replay;
  const simgpu::Finding* const finding = simgpu::cli::first_to_explore(findings);
  const auto record = [&](const replay::Wanted& wanted) {
    auto device = start_device(device_options);
    device.mark();
    device.record(wanted);
    simgpu::cli::run_program(options.command, device.connect_guest(), places.libraries, true);
    return device.recorded();
  };
  replay::Recorded recorded = record(simgpu::cli::wanted_for(finding));
  // Of launches that race, who touched the byte is known only now.
  if (recorded.next) recorded = record(*recorded.next);
  if (!recorded.recording) {
    say("simgpu: {} is not written: {}\n", options.explore,
        finding == nullptr ? "no kernel was launched"
                           : "the program did something else when it was run again");
    return;
  }
  replay::name_values(*recorded.recording, simgpu::cli::source_text);
  simgpu::cli::write_file(
      options.explore,
      replay::page_html(*std::move(recorded.recording), simgpu::cli::words_for(finding, findings),
                        simgpu::cli::source_text));
}

int run(const Options& options) {
  const Places places = find_places();
  const gpu_spec::GpuSpec gpu = gpu_spec::find(places.specifications, options.gpu);
  const bool checkers = options.check == "all";
  const simgpu::DeviceProcessOptions device_options{
      .program = places.device_program,
      .gpu = places.specifications / (gpu.id + ".toml"),
      .checkers = checkers,
      .sampled = options.sample,
      .lines = options.explain || !options.report.empty(),
      .machine_code = !options.report.empty(),
      .time_from =
          options.time_from == "ptx" ? simgpu::TimeFrom::ptx : simgpu::TimeFrom::machine_code,
      .instruction_budget = options.instruction_budget,
      .warp_limit_us = 1000 * options.warp_limit_ms,
      .backwards = options.backwards,
      .host_call_limit = options.host_call_limit,
      .assembler = assembler_of(options)};
  auto device = start_device(device_options);
  device.mark();
  const simgpu::cli::ProgramEnd end =
      simgpu::cli::run_program(options.command, device.connect_guest(), places.libraries);
  // Whoever is killed had no time to free anything.
  if (checkers && !end.by_signal && !end.interrupted) device.report_end();
  simgpu::Activity activity = end.interrupted ? collect_soon(device) : device.collect();
  simgpu::host_code::name_host_lines(activity, {simgpu::cli::program_file(options.command.front())},
                                     simgpu::cli::run_tool, simgpu::cli::is_own_source);
  simgpu::settle_by_source(activity.findings, simgpu::cli::source_text);
  if (!checkers) keep_what_is_no_check(activity.findings);
  say_text(simgpu::cli::tell_all(activity.findings));
  if (!activity.guest_connected) {
    say("simgpu: {}\n", simgpu::cli::why_no_cuda_call(options.command.front(), places.libraries));
  }

  if (options.explain) explain(activity, gpu.sm_count);
  if (!options.report.empty()) {
    simgpu::cli::write_file(options.report, simgpu::cli::report_json(activity, gpu));
  }
  if (!options.sarif.empty()) {
    simgpu::cli::write_file(options.sarif, simgpu::cli::sarif_document(activity.findings));
  }
  if (!options.trace.empty()) {
    simgpu::cli::write_file(options.trace, simgpu::cli::trace_json(activity, gpu.id, gpu.sm_count));
  }
  if (!options.explore.empty() && !end.interrupted) {
    write_replay(options, device_options, places, activity.findings);
  }
  return end.code == 0 && checkers && !activity.findings.empty() ? kFindings : end.code;
}

}  // namespace

/// Runs an nvcc program, built with -cudart shared, on a simulated GPU.
int main(int argc, char** argv) {
  CLI::App app{"Runs CUDA programs on a simulated GPU; times are modelled."};
  app.require_subcommand(1);
  app.set_version_flag("--version", "simgpu " ROOFLAB_VERSION);
  Options options;
  CLI::App* command = app.add_subcommand("run", "run a program built with nvcc -cudart shared");
  command->add_option("--gpu", options.gpu, "GPU to simulate, a file of specs/gpus")
      ->capture_default_str();
  command->add_option("--check", options.check, "checkers: all or none")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  CLI::Option* const sample =
      command->add_flag("--sample", options.sample,
                        "for timing: run only as many blocks as predict counters and time");
  command
      ->add_flag("--backwards", options.backwards,
                 "where kernels can see the order of warps and blocks, the last ones come first")
      ->excludes(sample);
  command->add_flag("--explain", options.explain,
                    "say on stderr what each kernel's modelled time consists of");
  command
      ->add_option("--instruction-budget", options.instruction_budget,
                   "work of a launch, in warp instructions, after which it takes too long")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--warp-limit", options.warp_limit_ms,
                   "modelled ms after which a warp takes too long; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--host-call-limit", options.host_call_limit,
                   "CUDA calls of the host after which its program takes too long; 0: no limit")
      ->capture_default_str();
  command
      ->add_option("--time-from", options.time_from,
                   "what modelled times go by: the machine code that ptxas makes of the program's "
                   "PTX, where it is known how often that is executed, or its PTX")
      ->check(CLI::IsMember({"machine-code", "ptx"}))
      ->capture_default_str();
  command->add_option("--ptxas", options.ptxas,
                      "NVIDIA's assembler, which tells each kernel's registers; none: they are "
                      "estimated; without this option the one beside nvcc");
  command->add_option("--report", options.report, "write findings and kernels to FILE as JSON");
  command->add_option("--sarif", options.sarif, "write findings to FILE as SARIF, for editors");
  command->add_option("--trace", options.trace, "write a Chrome trace to FILE");
  command->add_option("--explore", options.explore,
                      "run the program once more, and write its first finding, or else its first "
                      "block, to FILE as a page to step through");
  command->add_option("program", options.command, "the program and its arguments, after --")
      ->required();
  command->positionals_at_end();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    say("simgpu: {}; see simgpu run --help\n", error.what());
    return kUsage;
  }
  if (!options.explore.empty() && (options.check == "none" || options.sample)) {
    say("simgpu: --explore needs the checkers and all blocks: leave out {}\n",
        options.sample ? "--sample" : "--check none");
    return kUsage;
  }
  outlive_closed_pipes();
  try {
    return run(options);
  } catch (const gpu_spec::SpecError& error) {
    say("simgpu: {}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    say("simgpu: {}\n", error.what());
    return kFault;
  }
}
