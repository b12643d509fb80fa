#include "simgpu/machine_code/assembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "simgpu/ptx/kernel_texts.h"
#include "simgpu/ptx/one_a_line.h"
#include "simgpu/ptx/parser.h"
#include "simgpu/toolchain/bounded_command.h"
#include "simgpu/toolchain/work_folder.h"

namespace simgpu::machine_code {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestMessages = 16U << 10;
constexpr std::uintmax_t kMostKept = std::uintmax_t{256} << 20;
/// A module of the course takes two seconds at most; on a busy machine the clock runs three times
/// as long as the processor.
constexpr toolchain::Bounds kBounds{.processor_seconds = 60,
                                    .elapsed_seconds = 180,
                                    .memory_bytes = std::uint64_t{4} << 30,
                                    .file_bytes = std::uint64_t{64} << 20};
/// As nvcc has it for code with -lineinfo. Line tables change no instruction.
constexpr std::array kOptions{"-m64", "--generate-line-info"};
constexpr int kCannotRun = 126;  // and 127: what runs ptxas could not

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::string text_of_file(const fs::path& path) {
  const auto bytes = toolchain::read_made_file(path);
  if (!bytes) return {};
  const std::size_t size = std::min(bytes->size(), kLongestMessages);
  return {reinterpret_cast<const char*>(bytes->data()), size};
}

/// What ptxas says first, without its last line, which says that it gave up.
std::string reason_in(const std::string& messages) {
  std::istringstream lines(messages);
  std::string line;
  std::getline(lines, line);
  return line.empty() ? "it says nothing" : line;
}

/// The GPU is newer or older than ptxas: nobody's fault, and no word about the PTX.
bool does_not_know_the_gpu(const std::string& messages) {
  return messages.find("is not defined for option 'gpu-name'") != std::string::npos;
}

/// What to do where a newer compiler made the PTX than this ptxas is for; empty where it is not
/// that.
std::string remedy_for(const std::string& messages) {
  if (messages.find("Unsupported .version") == std::string::npos) return "";
  return "; this ptxas is older than the program's compiler: put the newer toolkit's bin first on "
         "the PATH, or name its ptxas with simgpu run --ptxas";
}

Assembled unavailable(std::string why) {
  return {.end = Assembled::End::unavailable, .why = std::move(why)};
}
Assembled refused(std::string why) {
  return {.end = Assembled::End::refused, .why = std::move(why)};
}

std::map<std::string, std::vector<fatbin::Spills>> spills_in(std::span<const std::byte> cubin) {
  try {
    return fatbin::read_spills(cubin);
  } catch (const fatbin::FatbinError&) {
    return {};  // A ptxas that tells of lines in another way: the code is good all the same.
  }
}

std::string in_lines(std::string_view ptx) {
  try {
    return ptx::one_instruction_a_line(ptx);
  } catch (const ptx::ParseError&) {
    return std::string(ptx);
  }
}

Assembled made(std::vector<std::byte> cubin) {
  Assembled assembled{.end = Assembled::End::made};
  assembled.resources = fatbin::read_resources(cubin);
  assembled.spills = spills_in(cubin);
  assembled.cubin = std::move(cubin);
  return assembled;
}

}  // namespace

fs::path find_ptxas() {
  std::vector<fs::path> candidates;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path nvcc = fs::path(folder) / "nvcc";
    if (is_program(nvcc)) candidates.push_back(fs::canonical(nvcc, error).parent_path() / "ptxas");
    candidates.push_back(fs::path(folder) / "ptxas");
  }
  if (const char* const home = std::getenv("CUDA_HOME")) {
    candidates.push_back(fs::path(home) / "bin/ptxas");
  }
  candidates.emplace_back("/usr/local/cuda/bin/ptxas");
  for (const fs::path& candidate : candidates) {
    if (is_program(candidate)) return fs::canonical(candidate, error);
  }
  return {};
}

std::string version_of(const fs::path& ptxas) {
  const toolchain::WorkFolder folder(fs::temp_directory_path());
  if (folder.path().empty()) return {};
  const fs::path output = folder.path() / "version";
  const bool ran =
      toolchain::run_bounded(
          {.words = {ptxas.string(), "--version"}, .output = output.string(), .bounds = kBounds})
          .succeeded();
  return ran ? text_of_file(output) : "";
}

std::string architecture_of(std::string_view ptx, unsigned capability) {
  constexpr std::string_view kDirective = ".target";
  const std::string architecture = fmt::format("sm_{}", capability);
  const std::size_t at = ptx.find("\n.target");
  if (at == std::string_view::npos) return architecture;
  std::string_view target = ptx.substr(at + 1 + kDirective.size(), 64);
  target.remove_prefix(std::min(target.find_first_not_of(" \t"), target.size()));
  target = target.substr(0, target.find_first_of(", \t\r\n"));
  const bool is_own_variant = target.size() == architecture.size() + 1 &&
                              target.starts_with(architecture) && std::isalpha(target.back()) != 0;
  return is_own_variant ? std::string(target) : architecture;
}

std::vector<std::string> as_assembled(std::string_view ptx) {
  const std::optional<ptx::KernelTexts> kernels = ptx::KernelTexts::of(ptx);
  if (!kernels || kernels->size() == 0) return {in_lines(ptx)};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kernels->size(); ++i)
    texts.push_back(in_lines(kernels->with_only(i)));
  return texts;
}

Assembler::Assembler(AssemblerOptions options)
    : options_(std::move(options)), cache_(options_.folder, kMostKept) {}

Assembled Assembler::assemble(std::string_view ptx, const std::string& architecture,
                              bool is_kept) const {
  if (options_.command.empty()) return unavailable("there is no ptxas");
  if (!is_kept) return make(ptx, architecture);
  const std::string key =
      fmt::format("{}\n{} {}\n{}", options_.version, architecture, fmt::join(kOptions, " "), ptx);
  try {
    if (auto kept = cache_.find(key)) return made(std::move(*kept));
  } catch (const fatbin::FatbinError&) {
    // Kept by an older version, say: it is made anew.
  }
  Assembled assembled = make(ptx, architecture);
  if (assembled.end == Assembled::End::made) cache_.keep(key, assembled.cubin);
  return assembled;
}

Assembled Assembler::make(std::string_view ptx, const std::string& architecture) const {
  const toolchain::WorkFolder folder(cache_.work_folder());
  const toolchain::WorkFolder outside(cache_.work_folder());
  if (folder.path().empty() || outside.path().empty())
    return unavailable("there is no room to run ptxas in");
  std::ofstream(folder.path() / "kernels.ptx", std::ios::binary) << ptx;
  const fs::path messages_file = outside.path() / "messages";
  toolchain::Command command{.words = options_.command,
                             .folder = folder.path(),
                             .output = messages_file.string(),
                             .errors = messages_file.string(),
                             .bounds = kBounds};
  command.words.push_back("-arch=" + architecture);
  command.words.insert(command.words.end(), kOptions.begin(), kOptions.end());
  command.words.insert(command.words.end(), {"kernels.ptx", "-o", "kernels.cubin"});
  const toolchain::CommandEnd end = toolchain::run_bounded(command);
  const std::string messages = text_of_file(messages_file);
  if (end.stopped)
    return refused("it was stopped, after a minute of processor time or for want of memory");
  if (end.exit_code >= kCannotRun && end.exit_code <= kCannotRun + 1)
    return unavailable("ptxas cannot be run: " + reason_in(messages));
  if (end.exit_code != 0 && does_not_know_the_gpu(messages))
    return unavailable(reason_in(messages));
  if (end.exit_code != 0) return refused(reason_in(messages) + remedy_for(messages));
  auto cubin = toolchain::read_made_file(folder.path() / "kernels.cubin");
  if (!cubin) return refused("it made no machine code");
  try {
    return made(std::move(*cubin));
  } catch (const fatbin::FatbinError& error) {
    return refused(fmt::format("it made machine code that cannot be read: {}", error.what()));
  }
}

std::vector<std::string> ptx_within(std::span<const std::byte> object, unsigned capability) {
  constexpr std::array<unsigned char, 4> kMagic{0x50, 0xED, 0x55, 0xBA};
  constexpr std::size_t kHeader = 16, kMostImages = std::size_t{64} << 20;
  std::vector<std::string> all;
  while (object.size() >= kHeader) {
    const void* const found = memmem(object.data(), object.size(), kMagic.data(), kMagic.size());
    if (found == nullptr) break;
    object = object.subspan(
        static_cast<std::size_t>(static_cast<const std::byte*>(found) - object.data()));
    if (object.size() < kHeader) break;
    std::size_t size = kMagic.size();
    try {
      const std::size_t whole = fatbin::container_size(object.first<kHeader>());
      if (whole <= object.size()) {
        const auto images = fatbin::read(object.first(whole), kMostImages);
        size = std::max(size, whole);
        if (const fatbin::Image* image = fatbin::newest_ptx(images, capability)) {
          all.emplace_back(reinterpret_cast<const char*>(image->payload.data()),
                           image->payload.size());
        }
      }
    } catch (const fatbin::FatbinError&) {
      // Only bytes that begin like one.
    }
    object = object.subspan(std::min(size, object.size()));
  }
  return all;
}

}  // namespace simgpu::machine_code
