#include "grader/batch/store/review_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "grader/batch/store/schema.h"
#include "grader/batch/store/sqlite_faults_testing.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const ReviewAct kAda{.by = "Ada", .at = 100};
const ReviewAct kBob{.by = "Bob", .at = 200};

/// What a writer who comes too late is told; empty where nobody is.
template <typename Write>
std::string lost(const Write& write) {
  try {
    write();
  } catch (const LostUpdate& error) {
    return error.what();
  }
  return {};
}

class ReviewStoreTest : public testing::Test {
 protected:
  ReviewStoreTest() : folder_(std::filesystem::temp_directory_path()), store_(file()) {
    for (const char* key : {"ann", "ben", "cem"}) store_.put_student({.key = key}, 0);
  }
  std::filesystem::path file() const { return folder_.path() / "batch.sqlite"; }

  static ReviewComment comment(const std::string& text) {
    return {.students = {"ann", "ben"},
            .part = 1,
            .source = "f00d",
            .path = "part1-test/a.cu",
            .line = 7,
            .text = text};
  }
  PointsTarget target(const std::string& item, const std::set<std::string>& students) {
    PointsTarget target{.revisions = {}, .part = 1, .item = item};
    for (const std::string& student : students) {
      target.revisions[student] = 0;
      for (const GivenPoints& one : review_.points()) {
        if (one.row.student == student && one.row.item == item) {
          target.revisions[student] = one.revision;
        }
      }
    }
    return target;
  }
  /// The points that count, as "ann why 2: words".
  std::vector<std::string> counting() {
    std::vector<std::string> all;
    for (const ManualRow& row : store_.manual_points()) {
      all.push_back(row.student + " " + row.item + " " + signed_points(row.points) +
                    (row.comment.empty() ? "" : ": " + row.comment));
    }
    return all;
  }
  std::vector<RubricLine> rubric() { return review_.rubric(1, "why"); }

  TemporaryFolder folder_;
  Store store_;
  ReviewStore review_{store_};
};

TEST_F(ReviewStoreTest, KeepsACommentForAllPartners) {
  const std::int64_t id = review_.add_comment(comment("why not coalesced?"), kAda);
  ASSERT_THAT(review_.comments(), SizeIs(1));
  const ReviewComment kept = review_.comments()[0];
  EXPECT_EQ(kept.id, id);
  EXPECT_THAT(kept.students, ElementsAre("ann", "ben"));
  EXPECT_EQ(kept.text, "why not coalesced?");
  EXPECT_EQ(kept.by, "Ada");
  EXPECT_EQ(kept.at, 100);
  EXPECT_EQ(kept.version, 1);
}

TEST_F(ReviewStoreTest, RefusesTheSecondOfTwoChangesAndSaysWhatTheFirstWas) {
  const std::int64_t id = review_.add_comment(comment("first"), kAda);
  review_.change_comment(id, 1, "Bob's words", kBob);
  EXPECT_THAT(lost([&] { review_.change_comment(id, 1, "Ada's words", kAda); }),
              HasSubstr("Bob has written meanwhile: Bob's words"));
  EXPECT_THAT(lost([&] { review_.remove_comment(id, 1, kAda); }), HasSubstr("Bob's words"));
  EXPECT_EQ(review_.comments()[0].text, "Bob's words");
  review_.change_comment(id, 2, "both", kAda);
  EXPECT_EQ(review_.comments()[0].text, "both");
}

TEST_F(ReviewStoreTest, KeepsWhatARemovedCommentSaidInTheLog) {
  const std::int64_t id = review_.add_comment(comment("gone soon"), kAda);
  review_.remove_comment(id, 1, kBob);
  EXPECT_THAT(review_.comments(), IsEmpty());
  const auto log = review_.log({.student = "ben"}, 10);
  ASSERT_THAT(log, SizeIs(2));
  EXPECT_EQ(log[0].what, "comment removed");
  EXPECT_EQ(log[0].by, "Bob");
  EXPECT_EQ(log[0].before, "gone soon");
  EXPECT_EQ(log[0].subject, "part1-test/a.cu:7");
  EXPECT_THAT(review_.log({.student = "cem"}, 10), IsEmpty());
  EXPECT_NE(lost([&] { review_.change_comment(id, 2, "late", kAda); }), "");
}

TEST_F(ReviewStoreTest, GivesPointsToAllPartnersOrToNone) {
  review_.give_points(target("gemv", {"ann", "ben"}), -1.5, std::nullopt, "no comments", kAda);
  EXPECT_THAT(counting(), ElementsAre("ann gemv -1.5: no comments", "ben gemv -1.5: no comments"));
  PointsTarget stale = target("gemv", {"ann", "ben"});
  review_.give_points(target("gemv", {"ben"}), 1, std::nullopt, "helped", kBob);
  EXPECT_THAT(lost([&] { review_.give_points(stale, 0, std::nullopt, "mine", kAda); }),
              HasSubstr("Bob has written meanwhile: 1 point: helped"));
  EXPECT_THAT(counting(), ElementsAre("ann gemv -1.5: no comments", "ben gemv +1: helped"));
}

TEST_F(ReviewStoreTest, TakesPointsBackSoThatNoneCountAndAnImportMayGiveThemAgain) {
  review_.give_points(target("why", {"ann"}), 2, 4.0, "fine", kAda);
  review_.withdraw_points(target("why", {"ann"}), kBob);
  EXPECT_THAT(counting(), IsEmpty());
  store_.put_manual({.student = "ann",
                     .part = 1,
                     .item = "why",
                     .points = 2,
                     .max_points = 4,
                     .comment = "fine",
                     .by = "Ada"},
                    300);
  EXPECT_THAT(counting(), ElementsAre("ann why +2: fine"));
}

TEST_F(ReviewStoreTest, AnImportIsAnotherWriterToo) {
  const PointsTarget before = target("why", {"ann"});
  store_.put_manual({.student = "ann", .part = 1, .item = "why", .points = 1, .by = "Cem"}, 300);
  EXPECT_THAT(lost([&] { review_.give_points(before, 4, 4.0, "", kAda); }),
              HasSubstr("Cem has written meanwhile: 1 point"));
}

TEST_F(ReviewStoreTest, BeginsARubricOnce) {
  review_.begin_rubric(1, "why", {{.part = 1, .item = "why", .text = "names it", .points = 2}});
  review_.remove_rubric_line(rubric().at(0).id, 1, kAda);
  review_.begin_rubric(1, "why", {{.part = 1, .item = "why", .text = "names it", .points = 2}});
  EXPECT_THAT(rubric(), IsEmpty());
}

TEST_F(ReviewStoreTest, AddsUpChosenItemsFromNoneToAllPoints) {
  const std::vector<RubricLine> lines = {{.id = 1, .text = "names it", .points = 3},
                                         {.id = 2, .text = "no unit", .points = -5}};
  EXPECT_EQ(rubric_points(lines, {.chosen = {1}}, 4), 3);
  EXPECT_EQ(rubric_points(lines, {.chosen = {1, 2}}, 4), 0);
  EXPECT_EQ(rubric_points(lines, {.chosen = {1}, .adjustment = 2}, 4), 4);
  EXPECT_EQ(rubric_words(lines, {.chosen = {1, 2}, .adjustment = 0.5, .comment = "close"}),
            "names it (+3)\nno unit (-5)\nadjusted (+0.5)\nclose");
}

TEST_F(ReviewStoreTest, AChangedRubricItemCountsForAllWhoHaveIt) {
  review_.add_rubric_line({.part = 1, .item = "why", .text = "names it", .points = 2}, kAda);
  review_.add_rubric_line({.part = 1, .item = "why", .text = "no unit", .points = -1}, kAda);
  const auto lines = rubric();
  review_.grade_answer(target("why", {"ann"}), {.chosen = {lines[0].id}}, versions_of(lines), 4,
                       kAda);
  review_.grade_answer(target("why", {"ben"}), {.chosen = {lines[0].id, lines[1].id}},
                       versions_of(lines), 4, kAda);
  review_.grade_answer(target("why", {"cem"}), {.chosen = {lines[1].id}}, versions_of(lines), 4,
                       kAda);
  RubricLine changed = lines[0];
  changed.points = 3;
  changed.text = "names the bandwidth";
  EXPECT_EQ(review_.change_rubric_line(changed, kBob), 2U);
  EXPECT_THAT(counting(), ElementsAre("ann why +3: names the bandwidth (+3)",
                                      "ben why +2: names the bandwidth (+3)\nno unit (-1)",
                                      "cem why 0: no unit (-1)"));
  EXPECT_EQ(review_.remove_rubric_line(lines[1].id, 1, kBob), 2U);
  EXPECT_THAT(counting(), ElementsAre("ann why +3: names the bandwidth (+3)",
                                      "ben why +3: names the bandwidth (+3)", "cem why 0"));
}

TEST_F(ReviewStoreTest, LeavesPointsAloneThatWereGivenInAnotherWaySince) {
  review_.add_rubric_line({.part = 1, .item = "why", .text = "names it", .points = 2}, kAda);
  review_.grade_answer(target("why", {"ann"}), {.chosen = {rubric()[0].id}}, versions_of(rubric()),
                       4, kAda);
  store_.put_manual({.student = "ann", .part = 1, .item = "why", .points = 4, .by = "Cem"}, 300);
  RubricLine changed = rubric()[0];
  changed.points = 1;
  EXPECT_EQ(review_.change_rubric_line(changed, kBob), 0U);
  EXPECT_THAT(counting(), ElementsAre("ann why +4"));
  EXPECT_FALSE(review_.rubric_grade("ann", 1, "why").has_value());
}

TEST_F(ReviewStoreTest, RefusesARubricItemThatSomebodyHasRemoved) {
  review_.add_rubric_line({.part = 1, .item = "why", .text = "names it", .points = 2}, kAda);
  const RubricLine line = rubric()[0];
  review_.remove_rubric_line(line.id, 1, kBob);
  EXPECT_THAT(lost([&] {
                review_.grade_answer(target("why", {"ann"}), {.chosen = {line.id}},
                                     versions_of({line}), 4, kAda);
              }),
              HasSubstr("removed: 1"));
  EXPECT_NE(lost([&] { review_.change_rubric_line(line, kAda); }), "");
  EXPECT_THAT(counting(), IsEmpty());
}

TEST_F(ReviewStoreTest, GradesNoAnswerByARubricThatIsAnotherSinceItWasRead) {
  review_.add_rubric_line({.part = 1, .item = "why", .text = "names it", .points = 2}, kAda);
  const auto read = rubric();
  RubricLine changed = read[0];
  changed.points = 3;
  review_.change_rubric_line(changed, kBob);
  review_.add_rubric_line({.part = 1, .item = "why", .text = "no unit", .points = -1}, kBob);
  const auto grade = [&](const std::vector<RubricLine>& seen) {
    review_.grade_answer(target("why", {"ann"}), {.chosen = {read[0].id}}, versions_of(seen), 4,
                         kAda);
  };
  EXPECT_EQ(lost([&] { grade(read); }),
            "the rubric has changed since you read this page: an item is now names it (+3); new is "
            "no unit (-1). Your choice is below; look at it and keep it once more");
  EXPECT_THAT(counting(), IsEmpty());
  grade(rubric());
  EXPECT_THAT(counting(), ElementsAre("ann why +3: names it (+3)"));
}

TEST_F(ReviewStoreTest, LosesNothingOfTwoWhoWriteAtOnce) {
  constexpr int kEach = 20;
  const auto write = [&](const ReviewAct& act) {
    Store store(file());
    ReviewStore review(store);
    for (int done = 0; done < kEach;) {
      PointsTarget target{.revisions = {{"ann", 0}}, .part = 1, .item = "gemv"};
      for (const GivenPoints& one : review.points()) target.revisions["ann"] = one.revision;
      try {
        review.give_points(target, 1, std::nullopt, act.by + std::to_string(done), act);
        ++done;
      } catch (const LostUpdate&) {  // looks again, as a person does
      }
    }
  };
  std::thread ada([&] { write(kAda); });
  write(kBob);
  ada.join();
  // Every one of them was written upon what its writer had seen.
  const auto log = review_.log({.student = "ann"}, 1000);
  ASSERT_THAT(log, SizeIs(2 * kEach));
  for (std::size_t i = 0; i + 1 < log.size(); ++i) EXPECT_EQ(log[i].before, log[i + 1].after);
}

TEST_F(ReviewStoreTest, AWriterWhoIsKilledHasWrittenAllOfItOrNothing) {
  int deaths = 0, lost_with_them = 0;
  for (bool died = true; died; ++deaths) {
    const std::size_t before = review_.comments().size();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Dies at one of the calls by which SQLite writes: within the transaction, or behind it.
      Store store(file());
      ReviewStore review(store);
      const KillAtWrite kill(deaths);
      review.add_comment(comment("number " + std::to_string(deaths)), kAda);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    died = WIFSIGNALED(status);
    Store store(file());
    ReviewStore review(store);
    const auto comments = review.comments();
    EXPECT_EQ(comments.size(), review.log({}, 1000).size());
    for (const ReviewComment& one : comments) EXPECT_THAT(one.students, SizeIs(2));
    if (comments.size() == before) ++lost_with_them;
  }
  EXPECT_GT(deaths, 5);
  EXPECT_GT(lost_with_them, 3);
  EXPECT_FALSE(review_.comments().empty());
}

TEST_F(ReviewStoreTest, AFullDiskCostsNothingThatWasThere) {
  const std::int64_t id = review_.add_comment(comment("there"), kAda);
  {
    const SqliteFaults faults("write", ENOSPC, 0);
    EXPECT_THROW(review_.change_comment(id, 1, "new", kBob), DatabaseError);
  }
  EXPECT_EQ(review_.comments().at(0).text, "there");
  EXPECT_THAT(review_.log({}, 10), SizeIs(1));
  review_.change_comment(id, 1, "new", kBob);
  EXPECT_EQ(review_.comments().at(0).text, "new");
}

TEST_F(ReviewStoreTest, AnOlderDatabaseKeepsItsPoints) {
  const auto old = folder_.path() / "old.sqlite";
  {
    Database database(old);
    migrate_to(database, 7);  // the last without reviews
    database.execute(
        "INSERT INTO students VALUES ('ann', 0, '', '', '', '', '', '', '', 0);"
        "INSERT INTO manual_points VALUES ('ann', 1, 'why', 1, 2, 4, 'fine', 'Ada', 100)");
  }
  Store store(old);
  ASSERT_THAT(store.manual_points(), SizeIs(1));
  EXPECT_EQ(store.manual_points()[0].points, 2);
  EXPECT_EQ(ReviewStore(store).points().at(0).revision, 1);
}

}  // namespace
}  // namespace rooflab
