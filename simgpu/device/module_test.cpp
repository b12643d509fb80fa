#include "simgpu/device/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "simgpu/device/device.h"
#include "simgpu/machine_code/assembler.h"

namespace simgpu::module_test {
namespace {

using ::testing::SizeIs;

/// A fat binary with one piece of plain PTX.
std::string container_of(std::string text) {
  text.resize((text.size() + 7) / 8 * 8);
  std::string bytes(16 + 64, '\0');
  const auto put = [&bytes](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  put(0, std::uint32_t{0xBA55ED50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{64 + text.size()});
  put(16, std::uint16_t{1});
  put(20, std::uint32_t{64});
  put(24, std::uint64_t{text.size()});
  put(44, std::uint32_t{80});
  return bytes + text;
}

std::span<const std::byte> bytes_of(const std::string& container) {
  return std::as_bytes(std::span(container.data(), container.size()));
}

const std::string kPtx = ".version 8.0\n.target sm_80\n.address_size 64\n";
constexpr ModuleLimits kAmple{.image_bytes = 1 << 20, .memory_bytes = std::uint64_t{1} << 40};

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(LoadModule, WritesOnlyTheInitialBytesThatAreGiven) {
  const gpu_spec::GpuSpec gpu =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  DeviceMemory memory(static_cast<std::uint64_t>(gpu.dram_bytes));
  const std::int64_t before = peak_kib();
  const std::string container = container_of(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".global .align 4 .b8 table[1000000000] = {1, 2, 3};\n");
  const LoadedModule module = load_module(bytes_of(container), {gpu}, kAmple, memory);
  std::array<std::byte, 4> first{};
  ASSERT_TRUE(memory.read(module.symbols.at("table").address, first));
  EXPECT_EQ(first, (std::array{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0}}));
  // Which bytes are initialised takes an eighth of the variable.
  EXPECT_LT(peak_kib() - before, 300'000) << "KiB for a variable of which three bytes are given";
}

TEST(LoadModule, KeepsKernelsFromStoringToConstants) {
  const gpu_spec::GpuSpec gpu =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  DeviceMemory memory(std::uint64_t{1} << 20);
  const std::string container = container_of(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".global .align 4 .b8 table[8];\n.const .align 4 .b8 weights[8];\n");
  const LoadedModule module = load_module(bytes_of(container), {gpu}, kAmple, memory);
  EXPECT_FALSE(memory.find(module.symbols.at("table").address)->read_only);
  EXPECT_TRUE(memory.find(module.symbols.at("weights").address)->read_only);
}

class UsedKernels : public ::testing::Test {
 protected:
  static std::string kernel(const std::string& name, const std::string& body) {
    return ".visible .entry " + name + "(.param .u64 p) { " + body + " }\n";
  }
  CudaError load(const std::string& kernels) {
    return device_.modules().load(bytes_of(container_of(kPtx + kernels)), &module_);
  }
  CudaError launch(std::uint64_t kernel) {
    return device_.launches().launch(
        {.module = module_, .kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}},
        std::vector<std::byte>(8));
  }
  const std::vector<Finding>& findings() { return device_.log().activity().findings; }

  Device device_{gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml"),
                 {.workers = 1, .memory_limit = 1 << 20}};
  std::uint64_t module_ = 0;
};

TEST_F(UsedKernels, AreReadWhenTheyAreUsedAndNoOthers) {
  ASSERT_EQ(load(kernel("first", "ret;") + kernel("second", "add.u32 %no, ; ret;")),
            CudaError::success)
      << "the second means nothing, and nobody has asked for it";
  const LoadedModule& loaded = *device_.modules().find(module_);
  ASSERT_THAT(loaded.kernels, SizeIs(2));
  EXPECT_EQ(*loaded.kernels[0].display_name, "first");
  EXPECT_FALSE(loaded.kernels[0].program);
  EXPECT_EQ(launch(0), CudaError::success);
  EXPECT_TRUE(loaded.kernels[0].program);
  EXPECT_FALSE(loaded.kernels[1].program);
  EXPECT_THAT(findings(), SizeIs(0));
}

TEST_F(UsedKernels, ThatMeanNothingAreToldOf) {
  ASSERT_EQ(load(kernel("first", "add.u32 %no, ; ret;")), CudaError::success);
  EXPECT_EQ(launch(0), CudaError::invalid_device_function);
  ASSERT_THAT(findings(), SizeIs(1));
  EXPECT_EQ(findings()[0].code, Code("RL0312"));
  EXPECT_EQ(findings()[0].kernel, "first");
  EXPECT_THAT(findings()[0].message, ::testing::HasSubstr("expected"));
  EXPECT_EQ(launch(1), CudaError::invalid_device_function) << "there is none";
  EXPECT_THAT(findings(), SizeIs(1));
}

TEST_F(UsedKernels, ShareTheirVariables) {
  ASSERT_EQ(
      load(".global .u32 count;\n" +
           kernel("set", ".reg .b32 %r<2>; mov.u32 %r1, 7; st.global.u32 [count], %r1; ret;") +
           kernel("doubled",
                  ".reg .b32 %r<2>; ld.global.u32 %r1, [count]; add.u32 %r1, %r1, %r1; "
                  "st.global.u32 [count], %r1; ret;")),
      CudaError::success);
  EXPECT_EQ(launch(0), CudaError::success);
  EXPECT_EQ(launch(1), CudaError::success);
  std::array<std::byte, 4> count{};
  ASSERT_TRUE(
      device_.memory().read(device_.modules().find(module_)->symbols.at("count").address, count));
  EXPECT_EQ(count[0], std::byte{14});
}

TEST(LoadModule, SaysThatADeviceLinkedProgramHasNoPtx) {
  const gpu_spec::GpuSpec gpu =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  DeviceMemory memory(std::uint64_t{1} << 20);
  std::string container = container_of(kPtx);
  container[16] = 2;  // machine code
  ModuleLimits limits = kAmple;
  const auto message = [&] {
    try {
      load_module(bytes_of(container), {gpu}, limits, memory);
    } catch (const ModuleError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message().find("build with -gencode"), std::string::npos) << message();
  limits.origin = protocol::ImageOrigin::device_linked;
  EXPECT_NE(message().find("was device-linked (nvcc -rdc=true or -dc)"), std::string::npos)
      << message();
}

class LoadOnDevice : public ::testing::Test {
 protected:
  CudaError load(const std::string& ptx, std::uint64_t* module) {
    return device_.modules().load(bytes_of(container_of(kPtx + ptx)), module);
  }
  /// A comment that fills `share` of what all modules may have.
  static std::string padding(double share) {
    return "//" + std::string(static_cast<std::size_t>(share * protocol::kMaxImageBytes), ' ') +
           "\n";
  }

  Device device_{gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml"),
                 {.workers = 1, .memory_limit = 1 << 20}};
};

TEST_F(LoadOnDevice, CountsVariablesAsAllocatedMemory) {
  std::uint64_t module = 0;
  EXPECT_EQ(load(".global .align 4 .b8 table[600000];\n", &module), CudaError::success);
  EXPECT_EQ(load(".global .align 4 .b8 table[600000];\n", &module), CudaError::memory_allocation);
  EXPECT_EQ(load(".global .align 4 .b8 table[400000];\n", &module), CudaError::success);
}

TEST_F(LoadOnDevice, BoundsWhatIsLoadedAtATimeAndNotWhatWasUnloaded) {
  std::uint64_t module = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(load(padding(0.6), &module), CudaError::success) << i;
    ASSERT_EQ(device_.modules().unload(module), CudaError::success);
  }
  ASSERT_EQ(load(padding(0.6), &module), CudaError::success);
  EXPECT_EQ(load(padding(0.6), &module), CudaError::memory_allocation);
}

TEST_F(LoadOnDevice, HoldsPlainPtxToTheSameBounds) {
  std::uint64_t module = 0;
  const auto load_text = [&](const std::string& text) {
    return device_.modules().load(bytes_of(kPtx + text), &module);
  };
  ASSERT_EQ(load_text(padding(0.6)), CudaError::success);
  const std::uint64_t large = module;
  EXPECT_EQ(load_text(padding(0.6)), CudaError::memory_allocation);
  ASSERT_EQ(device_.modules().unload(large), CudaError::success);
  ASSERT_EQ(load_text(".global .align 4 .b8 table[600000];\n"), CudaError::success);
  EXPECT_EQ(load_text(".global .align 4 .b8 table[600000];\n"), CudaError::memory_allocation);
  EXPECT_EQ(load_text(".global .align 4 .b8 table["), CudaError::invalid_ptx);
  EXPECT_EQ(load_text(std::string("\0 what follows the end", 22)), CudaError::success);
  EXPECT_EQ(device_.modules().load(bytes_of("PTX"), &module), CudaError::invalid_kernel_image);
  EXPECT_EQ(device_.modules().load({}, &module), CudaError::invalid_kernel_image);
}

TEST_F(LoadOnDevice, RefusesLaunchesWhoseLocalMemoryNoGpuCouldHold) {
  std::uint64_t module = 0;
  const auto launch = [&](int bytes) {
    const std::string kernel = ".visible .entry k()\n{\n.local .align 4 .b8 own[" +
                               std::to_string(bytes) + "];\nret;\n}\n";
    EXPECT_EQ(load(kernel, &module), CudaError::success);
    return device_.launches().launch({.module = module, .grid = {1, 1, 1}, .block = {32, 1, 1}},
                                     {});
  };
  EXPECT_EQ(launch(100'000), CudaError::success);
  EXPECT_EQ(launch(500'000), CudaError::memory_allocation);
}

/// A kernel that keeps this many values alive at a time.
std::string kernel_with(int values) {
  std::string text = ".visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<" + std::to_string(values) +
                     ">;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < values; ++i) {
    text += "ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
            "];\n";
  }
  for (int i = values; i-- > 0;) {
    text += "st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" + std::to_string(i) +
            ";\n";
  }
  return text + "ret;\n}\n";
}

/// Honest PTX, and machine code of whatever it says it is of.
std::string forged(const std::string& ptx, std::span<const std::byte> code,
                   std::uint32_t architecture) {
  std::string elf(reinterpret_cast<const char*>(code.data()), code.size());
  std::string entry = container_of(elf).substr(16);
  entry[0] = 2;  // machine code
  std::memcpy(entry.data() + 28, &architecture, sizeof architecture);
  std::string whole = container_of(ptx) + entry;
  const std::uint64_t size = whole.size() - 16;
  std::memcpy(whole.data() + 8, &size, sizeof size);
  return whole;
}

class MachineCode : public ::testing::Test {
 protected:
  std::vector<std::byte> code_of(const std::string& ptx) const {
    return assembler_.assemble(kPtx + ptx, "sm_80").cubin;
  }
  /// What a program is told of the kernel of a container.
  LoadedKernel kernel_of(const std::string& container) {
    std::uint64_t handle = 0;
    EXPECT_EQ(device_.modules().load(bytes_of(container), &handle), CudaError::success);
    return *device_.modules().find_kernel(handle, 0);
  }

  const machine_code::Assembler assembler_{
      {.command = {machine_code::find_ptxas().string()}, .version = "of the test"}};
  Device device_{gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml"),
                 {.workers = 1, .memory_limit = 1 << 20, .assembler = &assembler_}};
};

TEST_F(MachineCode, IsThatOfThePtxWhateverLiesBesideIt) {
  const std::string honest = kPtx + kernel_with(60);
  const unsigned registers = kernel_of(container_of(honest)).registers;
  EXPECT_GE(registers, 60U);
  const std::vector<std::byte> small = code_of(kernel_with(1));
  ASSERT_FALSE(small.empty());
  EXPECT_EQ(kernel_of(forged(honest, small, 80)).registers, registers) << "fewer registers";
  EXPECT_EQ(kernel_of(forged(honest, small, 75)).registers, registers) << "of another GPU";
  std::string with_shared = kernel_with(1);
  with_shared.insert(with_shared.find("{\n") + 2,
                     ".shared .b8 table[40000];\n.reg .b32 %r<2>;\nmov.u32 %r0, table;\n"
                     "st.volatile.shared.u32 [%r0], %r0;\n");
  const std::vector<std::byte> large = code_of(with_shared);
  ASSERT_FALSE(large.empty());
  const LoadedKernel kernel = kernel_of(forged(honest, large, 80));
  EXPECT_EQ(kernel.registers, registers) << "more shared memory";
  EXPECT_EQ(kernel.static_shared_bytes, 0U);
  EXPECT_FALSE(kernel.is_estimated);
}

TEST_F(MachineCode, IsThatOfPtxThatIsMadeAtRunTime) {
  const std::string honest = kPtx + kernel_with(60);
  EXPECT_EQ(kernel_of(honest).registers, kernel_of(container_of(honest)).registers);
}

TEST_F(MachineCode, DecidesWhetherAKernelCanBeLaunched) {
  std::uint64_t handle = 0;
  std::string refused = kernel_with(1);
  refused.insert(refused.find("ret;"), "shl.b64 %f0, %rd1, 1;\n");
  if (device_.modules().load(bytes_of(kPtx + refused), &handle) != CudaError::success) return;
  EXPECT_EQ(device_.launches().launch({.module = handle, .grid = {1, 1, 1}, .block = {32, 1, 1}},
                                      std::vector<std::byte>(8)),
            CudaError::invalid_ptx);
  ASSERT_THAT(device_.log().activity().findings, SizeIs(1));
  EXPECT_THAT(device_.log().activity().findings[0].message,
              ::testing::HasSubstr("assembler refuses the module's PTX"));
}

TEST_F(MachineCode, TellsWhereRegistersAreSpilled) {
  EXPECT_TRUE(kernel_of(kPtx + kernel_with(60)).spills.empty());
  std::string few_registers = kernel_with(60);
  few_registers.insert(few_registers.find(")\n{") + 1, "\n.maxnreg 24");
  const LoadedKernel kernel = kernel_of(kPtx + few_registers);
  EXPECT_LE(kernel.registers, 24U);
  ASSERT_EQ(kernel.spills.size(), kernel.info->instructions.size());
  double stores = 0, loads = 0;
  for (std::size_t i = 0; i < kernel.spills.size(); ++i) {
    if (kernel.spills[i].stores + kernel.spills[i].loads > 0) {
      EXPECT_GT(kernel.info->instructions[i].access_bytes, 0U) << "it is loads and stores alone";
    }
    stores += kernel.spills[i].store_words;
    loads += kernel.spills[i].load_words;
  }
  EXPECT_GE(stores, 30) << "of 60 values";
  EXPECT_GE(loads, 30);
  EXPECT_EQ(kernel.spilled_bytes, kernel.local_bytes) << "it has no other local memory";
}

/// A kernel that loads 60 values, multiplies each by the next one, all in as many lines or in one.
std::string products_in(const char* between, const std::string& before = "") {
  std::string text = ".visible .entry k(.param .u64 p)\n.maxnreg 24\n{\n.reg .f32 %f<61>;\n" +
                     std::string(".reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n");
  const auto place = [](int i) { return "[%rd1+" + std::to_string(4 * i) + "]"; };
  const auto value = [](int i) { return "%f" + std::to_string(i % 60); };
  for (int i = 0; i < 60; ++i) {
    text += "ld.volatile.global.f32 " + value(i) + ", " + place(i) + ";\n";
  }
  text += before;
  for (int i = 0; i < 60; ++i) {
    text += "fma.rn.f32 " + value(i) + ", " + value(i + 1) + ", " + value(i + 2) + ", " + value(i) +
            ";" + between;
  }
  text += "\n";
  for (int i = 0; i < 60; ++i) {
    text += "st.volatile.global.f32 " + place(i) + ", " + value(i) + ";\n";
  }
  return text + "ret;\n}\n";
}

double words_spilled(const LoadedKernel& kernel) {
  double words = 0;
  for (const InstructionSpills& of : kernel.spills) words += of.load_words + of.store_words;
  return words;
}

TEST_F(MachineCode, TellsOfTheSameSpillsHoweverManyInstructionsAreInALine) {
  const double words = words_spilled(kernel_of(kPtx + products_in("\n")));
  EXPECT_GE(words, 80);
  EXPECT_DOUBLE_EQ(words_spilled(kernel_of(kPtx + products_in(" "))), words);
  EXPECT_DOUBLE_EQ(words_spilled(kernel_of(kPtx + products_in("\n", "# 700 \"x.cu\"\n"))), words)
      << "whatever number the text gives its lines";
}

TEST_F(MachineCode, IsEstimatedWithoutAnAssembler) {
  Device device(gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml"),
                {.workers = 1, .memory_limit = 1 << 20});
  std::uint64_t handle = 0;
  const std::string forgery = forged(kPtx + kernel_with(60), code_of(kernel_with(1)), 80);
  ASSERT_EQ(device.modules().load(bytes_of(forgery), &handle), CudaError::success);
  const LoadedKernel& kernel = *device.modules().find_kernel(handle, 0);
  EXPECT_TRUE(kernel.is_estimated);
  EXPECT_GE(kernel.registers, 60U);
}

}  // namespace
}  // namespace simgpu::module_test
