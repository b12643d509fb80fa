#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

/// Every topic ends well on the simulated GPU, and says something; what it says is what a real GPU
/// said, but for what `accepted.toml` lists.
namespace {

using ::testing::HasSubstr;

class Fidelity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string folder = ::testing::TempDir() + "fidelity-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    const std::filesystem::path build = ROOFLAB_BINARY_DIR;
    const std::string command = "cd '" + folder + "' && '" + (build / "bin/simgpu").string() +
                                "' run --check none --gpu h200 -- '" +
                                (build / "cuda/fidelity").string() + "' >output 2>errors";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream stream(folder + "/output");
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string topic, item;
      words >> topic >> item;
      if (topic == "end")
        ends_[item] = line;
      else
        ++lines_[topic];
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static inline std::filesystem::path folder_;
  static inline int exit_code_ = -1;
  static inline std::map<std::string, std::string> ends_;
  static inline std::map<std::string, int> lines_;
};

TEST_F(Fidelity, EveryTopicEndsWell) {
  EXPECT_EQ(exit_code_, 0);
  EXPECT_GE(ends_.size(), 40U);
  for (const auto& [topic, line] : ends_) {
    EXPECT_THAT(line, HasSubstr("-> exit 0"));
    EXPECT_GT(lines_[topic], 0) << topic;
  }
}

TEST_F(Fidelity, SaysMuchOfEachKind) {
  for (const char* topic : {"approx", "arith", "atomics", "convert", "library", "tensor"}) {
    EXPECT_GT(lines_[topic], 2000) << topic;
  }
}

TEST_F(Fidelity, IsThatOfAnH200) {
  const std::filesystem::path here = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "simgpu/fidelity";
  const std::filesystem::path found = folder_ / "found";
  const std::string command = "python3 '" + (here / "compare").string() + "' --check --gone '" +
                              (here / "measured/h200.txt.xz").string() + "' '" +
                              (folder_ / "output").string() + "' >'" + found.string() + "' 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  std::stringstream text;
  text << std::ifstream(found).rdbuf();
  EXPECT_EQ(status, 0) << text.str().substr(0, 4000);
}

}  // namespace
