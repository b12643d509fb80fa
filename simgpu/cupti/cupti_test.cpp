#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// A program written against plain CUPTI (testdata/activities.cu), run by `simgpu run`.
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

using Fields = std::vector<std::string>;

/// The program's lines by their first word, run once for all tests.
class Cupti : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string build = ROOFLAB_BINARY_DIR;
    const std::string command =
        "'" + build + "/bin/simgpu' run --check none -- '" + build + "/cuda/activities' 2>&1";
    FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
    ASSERT_NE(pipe, nullptr);
    std::array<char, 4096> chunk{};
    while (fgets(chunk.data(), chunk.size(), pipe) != nullptr) output_ += chunk.data();
    exit_code_ = WEXITSTATUS(pclose(pipe));
    std::istringstream lines(output_);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      Fields fields;
      for (std::string word; words >> word;) fields.push_back(word);
      if (!fields.empty()) records_[fields[0]].push_back(fields);
    }
  }

  static std::vector<Fields>& all(const std::string& kind) { return records_[kind]; }
  static unsigned long long number(const std::string& text) { return std::stoull(text); }
  /// The call of this correlation.
  static const Fields* call(const std::string& correlation) {
    for (const Fields& fields : all("call")) {
      if (fields.at(2) == correlation) return &fields;
    }
    return nullptr;
  }

  static inline std::string output_;
  static inline int exit_code_ = -1;
  static inline std::map<std::string, std::vector<Fields>> records_;
};

TEST_F(Cupti, RunsAProgramWrittenForAGpu) {
  EXPECT_EQ(exit_code_, 0) << output_;
  EXPECT_THAT(all("failed"), SizeIs(0)) << output_;
  EXPECT_THAT(all("unexpected"), SizeIs(0)) << output_;
  EXPECT_EQ(all("dropped").at(0).at(1), "0");
  EXPECT_GT(number(all("buffers").at(0).at(1)), 1u) << "records of several buffers";
}

TEST_F(Cupti, RefusesAKindThatItLacksByName) {
  EXPECT_THAT(output_, HasSubstr("cuptiActivityEnable of CUPTI_ACTIVITY_KIND_OVERHEAD is not "
                                 "implemented"));
}

TEST_F(Cupti, HasOneOfTheTwoKindsOfKernelRecordsAtATime) {
  EXPECT_EQ(all("kind").at(0).at(2), "0");
  EXPECT_EQ(all("beside").at(0).at(2), "14");  // CUPTI_ERROR_NOT_COMPATIBLE
}

TEST_F(Cupti, TellsEveryKernelWithItsLaunch) {
  const auto& kernels = all("kernel");
  ASSERT_THAT(kernels, SizeIs(33));
  const Fields first = kernels[0];
  EXPECT_EQ(first.at(1), "scale");
  EXPECT_EQ(first.at(3), "0") << "the default stream";
  EXPECT_EQ(first.at(4), "40");
  EXPECT_EQ(first.at(5), "256");
  EXPECT_GT(number(first.at(6)), 0u) << "registers";
  EXPECT_EQ(kernels[1].at(3), "1") << "the program's first stream";
  for (const Fields& kernel : kernels) {
    EXPECT_GT(number(kernel.at(8)), number(kernel.at(7)));
    const Fields* launch = call(kernel.at(2));
    ASSERT_NE(launch, nullptr) << "no call " << kernel.at(2);
    EXPECT_THAT(launch->at(1), HasSubstr("cudaLaunchKernel_v"));
    EXPECT_GE(number(kernel.at(7)), number(launch->at(4))) << "before it was launched";
  }
}

TEST_F(Cupti, TellsALaunchBySyntaxAsACallOfTheFunction) {
  const auto name = [](const Fields& kernel) { return call(kernel.at(2))->at(1); };
  EXPECT_EQ(name(all("kernel").at(0)), "cudaLaunchKernel_v7000") << "<<<>>>";
  EXPECT_EQ(name(all("kernel").back()), "cudaLaunchKernel_v7000") << "the function itself";
}

TEST_F(Cupti, TellsCopiesAndFills) {
  ASSERT_THAT(all("copy"), SizeIs(1));
  const Fields copy = all("copy")[0];
  EXPECT_EQ(copy.at(1), "1");  // CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
  EXPECT_EQ(copy.at(2), "0");  // not asynchronous
  EXPECT_EQ(copy.at(3), "40000");
  EXPECT_THAT(call(copy.at(4))->at(1), HasSubstr("cudaMemcpy_v"));
  ASSERT_THAT(all("fill"), SizeIs(1));
  EXPECT_EQ(all("fill")[0].at(1), "400");
  EXPECT_EQ(all("fill")[0].at(3), "1") << "the stream that it was issued to";
  EXPECT_THAT(call(all("fill")[0].at(2))->at(1), HasSubstr("cudaMemsetAsync_v"));
}

TEST_F(Cupti, TellsCallsInOrderWithTheirErrors) {
  unsigned long long end = number(all("span").at(0).at(1));
  std::size_t refused = 0;
  for (const Fields& one : all("call")) {
    EXPECT_NE(one.at(1), "?") << "a call without a name";
    EXPECT_GE(number(one.at(4)), end);
    EXPECT_GE(number(one.at(5)), number(one.at(4)));
    end = number(one.at(5));
    if (one.at(3) != "0") ++refused;
  }
  EXPECT_LE(end, number(all("span").at(0).at(2)));
  EXPECT_EQ(refused, 1u) << "the copy into freed memory";
}

TEST_F(Cupti, TellsMemoryOnlyWhileItIsAsked) {
  ASSERT_THAT(all("memory"), SizeIs(2));
  EXPECT_EQ(all("memory")[0].at(1), "1");  // allocation
  EXPECT_EQ(all("memory")[0].at(2), "40000");
  EXPECT_EQ(all("memory")[1].at(1), "2");  // release
  EXPECT_EQ(all("memory")[1].at(2), "40000");
}

TEST_F(Cupti, AttachesTheInnermostExternalId) {
  std::map<std::string, std::string> external;
  for (const Fields& fields : all("external")) external[fields.at(2)] = fields.at(1);
  EXPECT_THAT(external, SizeIs(3));
  EXPECT_EQ(external[all("kernel").at(0).at(2)], "7");
  EXPECT_EQ(external[all("kernel").at(1).at(2)], "8");
  EXPECT_EQ(external[all("fill").at(0).at(2)], "7") << "after the inner id was popped";
  EXPECT_EQ(all("popped").at(0).at(1), "8");
  EXPECT_EQ(all("nothing").at(0).at(2), "18");  // CUPTI_ERROR_QUEUE_EMPTY
}

}  // namespace
