#include "grader/batch/store/request_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "grader/batch/store/sqlite_faults_testing.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RequestStoreTest : public testing::Test {
 protected:
  RequestStoreTest()
      : folder_(std::filesystem::temp_directory_path()), store_(file()), requests_(store_) {
    store_.put_student({.key = "ann"}, 0);
  }
  std::filesystem::path file() const { return folder_.path() / "batch.sqlite"; }

  static RegradeRequest request(const std::string& why) {
    return {.student = "ann", .part = 1, .task = "gemm", .why = why, .old_score = 14};
  }
  static RequestDecision granted(const std::string& reason, bool regrade = true) {
    return {.state = RequestState::granted, .reason = reason, .regrade = regrade};
  }
  RegradeRequest only() { return requests_.all().at(0); }

  const ReviewAct ada_{.by = "Ada", .at = 100};
  const ReviewAct bob_{.by = "Bob", .at = 200};
  TemporaryFolder folder_;
  Store store_;
  RequestStore requests_;
};

TEST_F(RequestStoreTest, KeepsWhoAskedForWhatAndWhen) {
  EXPECT_TRUE(requests_.add(request("my tile is right"), ada_));
  const RegradeRequest kept = only();
  EXPECT_EQ(kept.student, "ann");
  EXPECT_EQ(kept.task, "gemm");
  EXPECT_EQ(kept.why, "my tile is right");
  EXPECT_EQ(kept.asked_by, "Ada");
  EXPECT_EQ(kept.asked_at, 100);
  EXPECT_EQ(kept.old_score, 14);
  EXPECT_EQ(kept.state, RequestState::open);
  EXPECT_FALSE(kept.decided_at.has_value());
}

TEST_F(RequestStoreTest, TheSameRequestIsKeptOnce) {
  EXPECT_TRUE(requests_.add(request("a"), ada_));
  requests_.decide(only().id, 1, granted("yes"), bob_);
  EXPECT_FALSE(requests_.add(request("a"), ada_));
  EXPECT_TRUE(requests_.add(request("b"), ada_));
  EXPECT_THAT(requests_.all(), SizeIs(2));
  EXPECT_EQ(only().state, RequestState::granted) << "it stays decided";
}

TEST_F(RequestStoreTest, ADecisionSaysWhoAndWhenAndStandsInTheLog) {
  requests_.add(request("a"), ada_);
  requests_.decide(only().id, 1, {.state = RequestState::declined, .reason = "it races"}, bob_);
  EXPECT_EQ(only().state, RequestState::declined);
  EXPECT_EQ(only().reason, "it races");
  EXPECT_EQ(only().decided_by, "Bob");
  EXPECT_EQ(only().decided_at, 200);
  const auto log = ReviewStore(store_).log({.student = "ann"}, 10);
  ASSERT_THAT(log, SizeIs(2));
  EXPECT_EQ(log[0].before, "open");
  EXPECT_EQ(log[0].after, "declined: it races");
}

TEST_F(RequestStoreTest, WhoDecidesTooLateIsShownWhatStandsThere) {
  requests_.add(request("a"), ada_);
  requests_.decide(only().id, 1, granted("yes"), ada_);
  try {
    requests_.decide(only().id, 1, {.state = RequestState::declined, .reason = "no"}, bob_);
    FAIL() << "Bob has overwritten Ada";
  } catch (const LostUpdate& theirs) {
    EXPECT_THAT(theirs.what(), HasSubstr("Ada has decided meanwhile: granted, to be graded again"));
  }
  EXPECT_EQ(only().reason, "yes");
  EXPECT_THROW(requests_.decide(99, 1, granted(""), bob_), LostUpdate);
}

TEST_F(RequestStoreTest, ARegradeIsBegunOnceAndAgainOnlyWhereSomebodyAsks) {
  requests_.add(request("a"), ada_);
  const std::int64_t id = only().id;
  requests_.decide(id, 1, granted("yes"), ada_);
  EXPECT_TRUE(only().regrade && only().grading.empty()) << "it is due";
  requests_.begin_regrade(id, "g-2");
  EXPECT_EQ(only().grading, "g-2");
  requests_.decide(id, only().version, granted("yes, indeed", false), ada_);
  EXPECT_EQ(only().grading, "g-2") << "other words begin nothing";
  requests_.decide(id, only().version, granted("once more"), ada_);
  EXPECT_TRUE(only().regrade && only().grading.empty()) << "it is due again";
}

TEST_F(RequestStoreTest, TwoAssistantsAtOnceLoseNothing) {
  requests_.add(request("a"), ada_);
  constexpr int kEach = 12;
  const auto decide = [this](const std::string& by) {
    Store store(file());
    RequestStore requests(store);
    for (int done = 0; done < kEach;) {
      const RegradeRequest seen = requests.all().at(0);
      try {
        requests.decide(seen.id, seen.version, granted(by + std::to_string(done)), {.by = by});
        ++done;
      } catch (const LostUpdate&) {  // looks again, as a person would
      }
    }
  };
  std::thread ada(decide, "Ada"), bob(decide, "Bob");
  ada.join();
  bob.join();
  const auto log = ReviewStore(store_).log({.student = "ann"}, 1000);
  ASSERT_THAT(log, SizeIs(1 + 2 * kEach));
  // Every one of them was written upon what its writer had seen.
  for (std::size_t i = 0; i + 2 < log.size(); ++i) EXPECT_EQ(log[i].before, log[i + 1].after);
}

TEST_F(RequestStoreTest, AFullDiskCostsNothingThatWasThere) {
  requests_.add(request("a"), ada_);
  {
    const SqliteFaults faults("write", ENOSPC, 0);
    EXPECT_THROW(requests_.decide(only().id, 1, granted("yes"), bob_), DatabaseError);
  }
  EXPECT_EQ(only().state, RequestState::open);
  EXPECT_THAT(ReviewStore(store_).log({}, 10), SizeIs(1));
}

}  // namespace
}  // namespace rooflab
