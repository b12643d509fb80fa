#include "simgpu/machine_code/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>

namespace simgpu::machine_code {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using End = Assembled::End;

/// A kernel that keeps this many sums alive at a time.
std::string ptx_with(int sums) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p) {\n";
  const std::string count = std::to_string(sums);
  text += ".reg .f32 %f<" + std::to_string(2 * sums + 1) + ">;\n.reg .b64 %rd<3>;\n";
  text += "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < sums; ++i) {
    text += "ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
            "];\n";
  }
  for (int i = 0; i < sums; ++i) {
    text += "st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" +
            std::to_string(sums - 1 - i) + ";\n";
  }
  return text + "ret;\n}\n";
}

/// The toolkit's ptxas, which writes a line into `runs` each time that it makes something.
class Machine : public ::testing::Test {
 protected:
  Machine() {
    fs::remove_all(root_);
    fs::create_directories(root_);
    script("exec " ROOFLAB_CUDA_ROOT "/bin/ptxas \"$@\"");
  }
  ~Machine() override { fs::remove_all(root_); }

  void script(const std::string& end) const {
    const fs::path file = root_ / "ptxas";
    std::ofstream(file) << "#!/bin/sh\necho run >> " << runs().string() << "\n" << end << "\n";
    chmod(file.c_str(), 0755);
  }
  fs::path runs() const { return root_ / "runs"; }
  int count_runs() const {
    std::ifstream file(runs());
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  AssemblerOptions options(const std::string& version = "1") const {
    return {.command = {(root_ / "ptxas").string()}, .version = version, .folder = folder_};
  }
  Assembled assemble(const std::string& ptx, const std::string& architecture = "sm_80") const {
    return Assembler(options()).assemble(ptx, architecture);
  }
  fs::path only_file() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.is_regular_file()) return entry.path();
    }
    return {};
  }

  const fs::path root_ =
      fs::path(::testing::TempDir()) / ("machine_code_" + std::to_string(getpid()));
  const fs::path folder_ = root_ / "kept";
};

TEST_F(Machine, KnowsTheRegistersOfEachKernel) {
  const Assembled few = assemble(ptx_with(4));
  const Assembled many = assemble(ptx_with(60));
  ASSERT_EQ(few.end, End::made) << few.why;
  ASSERT_EQ(many.end, End::made) << many.why;
  EXPECT_LT(few.resources.at("kernel").registers_per_thread, 24U);
  EXPECT_GE(many.resources.at("kernel").registers_per_thread, 60U);
  EXPECT_FALSE(few.cubin.empty());
}

TEST_F(Machine, MakesNothingTwice) {
  const Assembled first = assemble(ptx_with(4));
  EXPECT_EQ(assemble(ptx_with(4)).cubin, first.cubin);
  EXPECT_EQ(count_runs(), 1);
  assemble(ptx_with(5));
  EXPECT_EQ(count_runs(), 2) << "another text";
  assemble(ptx_with(4), "sm_86");
  EXPECT_EQ(count_runs(), 3) << "another architecture";
  Assembler(options("2")).assemble(ptx_with(4), "sm_80");
  EXPECT_EQ(count_runs(), 4) << "another version";
}

TEST_F(Machine, MakesAnewWhatIsDamaged) {
  const Assembled first = assemble(ptx_with(4));
  const fs::path file = only_file();
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(assemble(ptx_with(4)).cubin, first.cubin);
  EXPECT_EQ(count_runs(), 2);
  EXPECT_EQ(assemble(ptx_with(4)).cubin, first.cubin);
  EXPECT_EQ(count_runs(), 2) << "what was made anew is kept";
}

TEST_F(Machine, WorksWithoutAFolderToKeepThingsIn) {
  AssemblerOptions none = options();
  none.folder.clear();
  EXPECT_EQ(Assembler(none).assemble(ptx_with(4), "sm_80").end, End::made);
  none.folder = "/proc/nowhere";
  EXPECT_EQ(Assembler(none).assemble(ptx_with(4), "sm_80").end, End::made);
}

TEST_F(Machine, ServesManyAtATime) {
  const Assembler assembler(options());
  std::vector<std::future<Assembled>> pending;
  for (int i = 0; i < 8; ++i) {
    pending.push_back(std::async(std::launch::async, [&assembler, sums = 4 + i % 2] {
      return assembler.assemble(ptx_with(sums), "sm_80");
    }));
  }
  std::array<unsigned, 2> registers{};
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Assembled assembled = pending[i].get();
    ASSERT_EQ(assembled.end, End::made);
    const unsigned taken = assembled.resources.at("kernel").registers_per_thread;
    if (i < 2) registers.at(i) = taken;
    EXPECT_EQ(taken, registers.at(i % 2));
  }
  EXPECT_EQ(assemble(ptx_with(4)).end, End::made);
}

TEST_F(Machine, RefusesWhatNoGpuCouldLoadAndSaysWhy) {
  std::string ptx = ptx_with(4);
  ptx.replace(ptx.find("ret;"), 4, "add.f32 %f0, %f1, %nowhere;");
  const Assembled assembled = assemble(ptx);
  EXPECT_EQ(assembled.end, End::refused);
  EXPECT_THAT(assembled.why, AllOf(HasSubstr("line"), HasSubstr("error")));
  EXPECT_EQ(assemble("no PTX at all").end, End::refused);
  EXPECT_THAT(assemble(".version 99.0\n.target sm_80\n.address_size 64\n").why,
              HasSubstr("this ptxas is older than the program's compiler"));
}

TEST_F(Machine, SaysThatNobodyKnowsWithoutAnAssemblerForTheGpu) {
  EXPECT_EQ(assemble(ptx_with(4), "sm_3").end, End::unavailable);
  EXPECT_EQ(
      Assembler({.command = {}, .version = {}, .folder = {}}).assemble(ptx_with(4), "sm_80").end,
      End::unavailable);
  AssemblerOptions gone = options();
  gone.command = {"/nowhere/ptxas"};
  EXPECT_EQ(Assembler(gone).assemble(ptx_with(4), "sm_80").end, End::unavailable);
}

TEST_F(Machine, TakesNoWordOfAnAssemblerThatWasStoppedOrMadeNothing) {
  script("kill -SEGV $$");
  EXPECT_EQ(assemble(ptx_with(4)).end, End::refused);
  script("exit 0");
  EXPECT_EQ(assemble(ptx_with(4)).end, End::refused);
  script("ln -s /etc/passwd kernels.cubin");
  EXPECT_EQ(assemble(ptx_with(4)).end, End::refused);
  script("echo nonsense > kernels.cubin");
  EXPECT_EQ(assemble(ptx_with(4)).end, End::refused);
}

TEST(AsAssembled, IsEachKernelByItself) {
  const std::string one = ptx_with(4);
  std::string other = one.substr(one.find(".visible"));
  other.replace(other.find("kernel"), 6, "second");
  const std::vector<std::string> texts = as_assembled(one + other);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_THAT(texts[0], AllOf(HasSubstr("entry kernel"), Not(HasSubstr("second"))));
  EXPECT_THAT(texts[1], AllOf(HasSubstr("entry second"), Not(HasSubstr("kernel"))));
  EXPECT_EQ(as_assembled(one + other + ".func helper() { ret; }\n").size(), 1U);
  EXPECT_THAT(as_assembled("no PTX"), testing::ElementsAre("no PTX"));
}

TEST(Architecture, IsTheGpusOrThePtxsOwnVariantOfIt) {
  const auto of = [](const std::string& target, unsigned capability) {
    return architecture_of(".version 8.0\n.target " + target + "\n.address_size 64\n", capability);
  };
  EXPECT_EQ(of("sm_75", 80), "sm_80");
  EXPECT_EQ(of("sm_90a", 90), "sm_90a");
  EXPECT_EQ(of("sm_90, debug", 90), "sm_90");
  EXPECT_EQ(of("sm_90a", 100), "sm_100");
  EXPECT_EQ(architecture_of("", 80), "sm_80");
}

TEST(FindPtxas, FindsTheOneBesideNvcc) {
  const fs::path ptxas = find_ptxas();
  ASSERT_FALSE(ptxas.empty());
  EXPECT_THAT(version_of(ptxas), HasSubstr("Cuda compilation tools"));
  EXPECT_EQ(version_of("/nowhere/ptxas"), "");
}

}  // namespace
}  // namespace simgpu::machine_code
