#include "toolkit/timing.h"
#include "toolkit/cuda_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

// The CUDA runtime as time_ms sees it: a stream whose work takes as long as the test says, and
// events that remember when it was done. Only what timing.h calls is here.
namespace {

struct FakeRuntime {
  double stream_ms = 0;          ///< when the work issued so far is done
  std::vector<double> recorded;  ///< time of each event, in order of creation
  int created = 0;
  int destroyed = 0;
  bool waited = false;
  cudaStream_t stream = nullptr;  ///< of the last record
  cudaError_t record_status = cudaSuccess;
};

FakeRuntime& runtime() {
  static FakeRuntime runtime;
  return runtime;
}

std::size_t index_of(cudaEvent_t event) { return reinterpret_cast<std::size_t>(event) - 1; }

}  // namespace

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  runtime().recorded.push_back(0);
  ++runtime().created;
  *event = reinterpret_cast<cudaEvent_t>(runtime().recorded.size());
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) {
  ++runtime().destroyed;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  runtime().recorded.at(index_of(event)) = runtime().stream_ms;
  runtime().stream = stream;
  return runtime().record_status;
}

cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) {
  runtime().waited = true;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (!runtime().waited) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(runtime().recorded.at(index_of(stop)) -
                                     runtime().recorded.at(index_of(start)));
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t /*status*/) { return "cudaErrorOfTheTest"; }
const char* cudaGetErrorString(cudaError_t /*status*/) { return "an error"; }

}  // extern "C"

namespace rooflab {
namespace {

class TimingTest : public testing::Test {
 protected:
  TimingTest() { runtime() = {}; }
};

TEST_F(TimingTest, GivesTheMeanOfTheTimedCallsAndLeavesTheWarmUpOut) {
  int calls = 0;
  const auto work = [&] { runtime().stream_ms += ++calls <= 2 ? 100 : calls; };
  EXPECT_DOUBLE_EQ(time_ms(work, 2, 3), (3 + 4 + 5) / 3.0);
  EXPECT_EQ(calls, 5);
}

TEST_F(TimingTest, WarmsUpOnceAndTimesThreeCallsUnlessTold) {
  int calls = 0;
  EXPECT_DOUBLE_EQ(time_ms([&] { runtime().stream_ms += ++calls == 1 ? 50 : 2; }), 2);
  EXPECT_EQ(calls, 4);
}

TEST_F(TimingTest, CanDoWithoutAWarmUp) {
  EXPECT_DOUBLE_EQ(time_ms([] { runtime().stream_ms += 7; }, 0, 1), 7);
}

TEST_F(TimingTest, RecordsOnTheStreamOfTheWork) {
  const auto stream = reinterpret_cast<cudaStream_t>(std::size_t{64});
  time_ms([] {}, 1, 1, stream);
  EXPECT_EQ(runtime().stream, stream);
}

TEST_F(TimingTest, DestroysItsEventsEvenWhenTheWorkThrows) {
  EXPECT_THROW(time_ms([] { throw std::runtime_error("no"); }, 0, 1), std::runtime_error);
  time_ms([] {});
  EXPECT_EQ(runtime().created, 4);
  EXPECT_EQ(runtime().destroyed, 4);
}

TEST_F(TimingTest, RefusesCountsThatMakeNoMean) {
  EXPECT_THROW(time_ms([] {}, -1, 3), std::invalid_argument);
  EXPECT_THROW(time_ms([] {}, 1, 0), std::invalid_argument);
}

TEST_F(TimingTest, NamesTheCallThatFailed) {
  runtime().record_status = cudaErrorInvalidResourceHandle;
  try {
    time_ms([] {});
    FAIL() << "a failed record went unseen";
  } catch (const CudaError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cudaEventRecord"));
  }
}

}  // namespace
}  // namespace rooflab
