// Any text or container that a guest may load is refused, or loads, and what loads runs or is
// refused: parse, lower, execute. A mutator that knows lines and opcodes keeps most texts legal
// enough to get through the parser.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/device/activity_wire.h"
#include "simgpu/device/device.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "specs/gpu_spec.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using simgpu::CudaError;
using simgpu::Device;

constexpr std::uint64_t kBufferBytes = 4096;
constexpr std::uint64_t kMemoryLimit = 64U << 20;
constexpr std::uint64_t kBudget = 4000;

const gpu_spec::GpuSpec& gpu() {
  static const gpu_spec::GpuSpec spec =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/h100-sxm.toml");
  return spec;
}

/// Every parameter is the buffer's address, as far as there is room for one.
std::vector<std::byte> parameters_of(const simgpu::KernelInfo& kernel, std::uint64_t address) {
  std::vector<std::byte> bytes(kernel.parameter_bytes);
  for (std::size_t at = 0; at + sizeof address <= bytes.size(); at += sizeof address) {
    std::memcpy(bytes.data() + at, &address, sizeof address);
  }
  return bytes;
}

void run(std::span<const std::byte> program, std::size_t variant) {
  Device device(gpu(), {.workers = 1,
                        .checkers = variant % 4 != 0,
                        .sampled = variant % 8 == 1,
                        .instruction_budget = kBudget,
                        .memory_limit = kMemoryLimit});
  std::uint64_t buffer = 0, handle = 0;
  device.allocations().allocate(kBufferBytes, &buffer);
  device.copies().fill({.address = buffer, .pitch = 2048, .width = 2048, .height = 1});
  if (device.modules().load(program, &handle) == CudaError::success) {
    constexpr std::size_t kMostKernels = 4;
    const std::size_t kernels =
        std::min(device.modules().find(handle)->kernels.size(), kMostKernels);
    for (std::size_t i = 0; i < kernels && !device.fault().is_raised(); ++i) {
      const simgpu::LoadedKernel* const kernel = device.modules().find_kernel(handle, i);
      if (kernel == nullptr) continue;
      const std::vector<std::byte> parameters = parameters_of(*kernel->info, buffer);
      device.launches().launch(
          {.module = handle, .kernel = i, .grid = {3, 1, 1}, .block = {40, 1, 1}}, parameters);
    }
  }
  device.report_end();
  simgpu::decode_activity(simgpu::encode(device.collect()));
  device.release_guest();
  if (device.memory().allocated() != 0) __builtin_trap();
}

/// Places of the lines of a text, with their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The instruction's opcode becomes another one.
std::string with_opcode(std::string_view line, const std::string& spelling) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t;\n", begin), line.size());
  return std::string(line.substr(0, begin)) + spelling + std::string(line.substr(end));
}

/// A number in the line becomes one of those that are at a limit of something.
std::string with_number(std::string_view line, std::mt19937& random) {
  static constexpr std::array<const char*, 12> kNumbers{
      "0",  "1",     "-1",    "31",         "32",         "33",
      "64", "65535", "65536", "2147483647", "4294967295", "9223372036854775807"};
  constexpr std::string_view kDigits = "0123456789";
  std::vector<std::size_t> places;
  for (std::size_t at = line.find_first_of(kDigits); at != std::string_view::npos;
       at = line.find_first_of(kDigits, line.find_first_not_of(kDigits, at))) {
    places.push_back(at);
    if (line.find_first_not_of(kDigits, at) == std::string_view::npos) break;
  }
  if (places.empty()) return std::string(line);
  const std::size_t at = places[random() % places.size()];
  const std::size_t end = std::min(line.find_first_not_of(kDigits, at), line.size());
  return std::string(line.substr(0, at)) + kNumbers[random() % kNumbers.size()] +
         std::string(line.substr(end));
}

std::string changed(std::string_view text, std::mt19937& random) {
  static const std::vector<std::string> spellings = simgpu::instruction_set().spellings();
  std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return {};
  const std::size_t at = random() % lines.size();
  std::string line(lines[at]);
  switch (random() % 6) {
    case 0:
      line.clear();
      break;
    case 1:
      line += lines[random() % lines.size()];
      break;
    case 2:
      line = with_opcode(line, spellings[random() % spellings.size()]);
      break;
    case 3: {
      const std::string_view other = lines[random() % lines.size()];
      const std::size_t begin = std::min(other.find_first_not_of(" \t"), other.size());
      const std::size_t end = std::min(other.find_first_of(" \t;\n", begin), other.size());
      line = with_opcode(line, std::string(other.substr(begin, end - begin)));
      break;
    }
    default:
      line = with_number(line, random);
  }
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) result += i == at ? line : std::string(lines[i]);
  return result;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text = changed({reinterpret_cast<const char*>(data), size}, random);
  text.resize(std::min(text.size(), most));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run(std::as_bytes(std::span(data, size)), size);
  return 0;
}
