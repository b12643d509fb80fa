#include "simgpu/exec/opcode_tests/form_runner.h"

#include <cstring>
#include <stdexcept>

#include "simgpu/exec/opcode_tests/kernel_text.h"
#include "simgpu/ptx/parser.h"

namespace simgpu::opcode_tests {
namespace {

constexpr std::uint32_t kThreadsPerBlock = 100;

std::string kernel_name(std::size_t index) { return "form_" + std::to_string(index); }

std::string module_text(const Forms& forms) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (std::size_t i = 0; i < forms.size(); ++i) text += kernel_text(kernel_name(i), forms[i]);
  return text;
}

std::uint64_t allocated(DeviceMemory& memory, std::uint64_t bytes, const char* label) {
  const auto address = memory.allocate(bytes, label);
  if (!address) throw std::runtime_error("the device has no memory left for the test");
  return *address;
}

}  // namespace

FormRunner::FormRunner(const Forms& forms)
    : program_(lower(ptx::parse(module_text(forms)), {})),
      memory_(std::uint64_t{1} << 30),
      gpu_(gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml")) {}

std::string FormRunner::refusal(std::size_t index) const {
  const KernelInfo* kernel = find_kernel(*program_, kernel_name(index));
  if (kernel == nullptr) return "the kernel is missing";
  return kernel->unsupported.empty() ? "" : kernel->unsupported.front();
}

std::vector<LaneResult> FormRunner::run(std::size_t index, const Form& form,
                                        const std::vector<Lane>& lanes) {
  const std::size_t sources = form.sources.size();
  const auto count = static_cast<std::uint32_t>(lanes.size());
  std::vector<std::uint64_t> operands(sources * count);
  for (std::size_t k = 0; k < sources; ++k) {
    for (std::size_t lane = 0; lane < count; ++lane) operands[k * count + lane] = lanes[lane][k];
  }
  const std::uint64_t in = allocated(memory_, operands.size() * 8, "operands");
  const std::uint64_t out = allocated(memory_, std::uint64_t{count} * kResultBytes, "results");
  memory_.write(in, std::as_bytes(std::span(operands)));
  memory_.fill(out, 0, std::uint64_t{count} * kResultBytes);

  std::byte parameters[20];
  std::memcpy(parameters, &in, 8);
  std::memcpy(parameters + 8, &out, 8);
  std::memcpy(parameters + 16, &count, 4);
  LaunchRequest request;
  request.kernel = kernel_name(index);
  request.grid = {(count + kThreadsPerBlock - 1) / kThreadsPerBlock, 1, 1};
  request.block = {kThreadsPerBlock, 1, 1};
  request.parameters = parameters;
  const LaunchResult result = execute(*program_, request, memory_, gpu_, {});
  if (result.status != LaunchStatus::ok) {
    throw std::runtime_error("the launch failed" + (result.findings.empty()
                                                        ? std::string()
                                                        : ": " + result.findings.front().message));
  }
  std::vector<LaneResult> results(count);
  memory_.read(out, std::as_writable_bytes(std::span(results)));
  memory_.release(in);
  memory_.release(out);
  return results;
}

}  // namespace simgpu::opcode_tests
