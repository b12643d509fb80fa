#include "grader/batch/regrade_requests.h"

#include "grader/batch/class_fixture.h"
#include "grader/batch/store/request_store.h"

/// `grader batch --requests FILE`, and what a granted request leads to.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class RequestsTest : public ClassFixture {
 protected:
  RequestsTest() {
    hand_in("ada", "xxxxxxxxxx");
    hand_in("bob", "xx");
    run();
  }

  BatchSummary import(const std::string& name, const std::string& text) {
    BatchRequest with_requests = request();
    with_requests.requests = file(name, text);
    listener_.lines.clear();
    return run(with_requests);
  }
  std::vector<RegradeRequest> requests() const {
    Store store(out() / "batch.sqlite");
    return RequestStore(store).all();
  }
  void grant(bool regrade) const {
    Store store(out() / "batch.sqlite");
    RequestStore requests(store);
    for (const RegradeRequest& one : requests.all()) {
      requests.decide(one.id, one.version,
                      {.state = RequestState::granted, .reason = "so it is", .regrade = regrade},
                      {.by = "Ada", .at = 60});
    }
  }
  std::string output(const std::string& name) const { return read_file(out() / name); }
};

TEST_F(RequestsTest, ATableIsReadWithAnySeparator) {
  EXPECT_EQ(import("a.csv", "student,part,task,why\nbob,1,count,\"two, not three\"\n").refused, 0U);
  EXPECT_EQ(import("b.csv", "sep=;\nWhy;Student;Part\nall of it;bob;1\n").refused, 0U);
  EXPECT_EQ(import("c.tsv", "student\tpart\twhy\tby\nada\t1\tplease\tEve\n").refused, 0U);
  const auto kept = requests();
  ASSERT_THAT(kept, SizeIs(3));
  EXPECT_EQ(kept[0].task, "count");
  EXPECT_EQ(kept[0].why, "two, not three");
  EXPECT_EQ(kept[0].asked_by, "bob");
  EXPECT_EQ(kept[0].old_score, 2);
  EXPECT_EQ(kept[1].task, "");
  EXPECT_EQ(kept[2].asked_by, "Eve");
  EXPECT_EQ(kept[2].old_score, 10);
}

TEST_F(RequestsTest, ATomlFileIsReadToo) {
  import("requests.toml",
         "[[request]]\nstudent = \"bob\"\npart = 1\ntask = \"count\"\nwhy = \"look\"\n"
         "[[request]]\nstudent = \"ada\"\npart = \"one\"\nwhy = \"look\"\n"
         "[[request]]\nstudent = \"ada\"\npart = 1\nwhy = \"look\"\nwhen = 3\n");
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests()[0].why, "look");
  EXPECT_THAT(listener_.lines, AllOf(Contains(HasSubstr("requests.toml:8: ")),
                                     Contains(HasSubstr("requests.toml:14: "))));
}

TEST_F(RequestsTest, WhatNamesNobodyIsToldByLineAndTheOthersAreKept) {
  const BatchSummary summary =
      import("r.csv",
             "student,part,task,why\nbbo,1,,x\nbob,7,,x\nbob,1,cuont,x\nbob,1,count,\n"
             "bob,1,count,x,y\nbob,1,count,fine\n");
  EXPECT_EQ(summary.refused, 5U);
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests()[0].why, "fine");
  for (const char* line :
       {"r.csv:2: bbo is no student of this batch",
        "r.csv:3: part 7 is none that this batch grades",
        "r.csv:4: part 1 has no task cuont; did you mean count?", "r.csv:5: why is empty",
        "r.csv:6: it has 5 fields", "1 regrade requests imported from"}) {
    EXPECT_THAT(listener_.lines, Contains(HasSubstr(line)));
  }
}

TEST_F(RequestsTest, TheSameFileAgainAddsNothing) {
  const std::string table = "student,part,why\nbob,1,x\n";
  import("r.csv", table);
  grant(false);
  import("r.csv", table);
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests()[0].state, RequestState::granted);
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("0 regrade requests imported")));
}

TEST_F(RequestsTest, AFileThatIsNoTableIsRefusedWhole) {
  EXPECT_THAT(complaint([&] { import("r.csv", "who,what\nbob,x\n"); }),
              HasSubstr("name the columns student, part and why"));
  EXPECT_THAT(complaint([&] { import("r.csv", ""); }), HasSubstr("is empty"));
  EXPECT_THAT(complaint([&] { import("r.toml", "[[request\n"); }), HasSubstr("r.toml:1"));
  EXPECT_THAT(complaint([&] { import("r.csv", "student,part,why\nbob,1,\xff\xfe\n"); }),
              HasSubstr("UTF-8"));
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(RequestsTest, ATextThatAttacksIsKeptAsTextOrRefused) {
  import("r.csv",
         "student,part,why\nbob,1,\"<script>alert(1)</script>\x1b]0;owned\x07 =1+1\"\n"
         "bob,1,\"=HYPERLINK(\"\"http://evil\"\")\"\nbob,1," +
             std::string(kLongestRequest + 1, 'W') + "\n");
  ASSERT_THAT(requests(), SizeIs(2));
  EXPECT_THAT(requests()[0].why, Not(HasSubstr("\x1b")));
  EXPECT_THAT(listener_.lines,
              Contains(HasSubstr("r.csv:4: why has 10001 bytes, and may have 10000")));
  EXPECT_THAT(output("feedback/bob.html"), AllOf(HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"),
                                                 Not(HasSubstr("<script>"))));
  EXPECT_THAT(output("regrade_requests.csv"),
              AllOf(HasSubstr("'=HYPERLINK"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
}

TEST_F(RequestsTest, AGrantedRequestIsGradedAgainOnceByTheNextBatch) {
  import("r.csv", "student,part,task,why\nbob,1,count,look\n");
  EXPECT_EQ(executor_.graded(), 2) << "an open request changes nothing";
  grant(true);
  executor_.give("xx", 5);
  run();
  EXPECT_EQ(executor_.graded(), 3);
  EXPECT_THAT(listener_.lines,
              Contains("bob, part 1: graded again, since its request was granted"));
  EXPECT_EQ(requests().at(0).grading,
            query("SELECT grading FROM grades WHERE revision = 2", 1).at(0));
  EXPECT_THAT(output("feedback/bob.html"),
              AllOf(HasSubstr("in all 5 of 14; regraded, was 2"),
                    HasSubstr("count: <b>granted</b>"), HasSubstr("Answer: <bdi>so it is</bdi>")));
  EXPECT_THAT(output("regrade_requests.csv"),
              HasSubstr(",granted,so it is,Ada,1970-01-01 00:01 UTC,started,2,5"));
  run();
  EXPECT_EQ(executor_.graded(), 3) << "once is what was granted";
}

TEST_F(RequestsTest, ARequestThatIsGrantedWithoutARegradeOnlyHasAnAnswer) {
  import("r.csv", "student,part,why\nbob,1,look\n");
  grant(false);
  run();
  EXPECT_EQ(executor_.graded(), 2);
  EXPECT_THAT(output("feedback/bob.html"), HasSubstr("Answer: <bdi>so it is</bdi>"));
  EXPECT_THAT(output("feedback/ada.html"), Not(HasSubstr("Regrade requests")));
}

}  // namespace
}  // namespace rooflab
