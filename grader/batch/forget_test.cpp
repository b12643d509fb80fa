#include "grader/batch/forget.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grader/batch/class_fixture.h"
#include "grader/batch/outputs/feedback_archives.h"
#include "grader/batch/store/review_store.h"
#include "grader/batch/store/sqlite_faults_testing.h"
#include "grader/pipeline/build_cache.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A word of hers that stands in nothing of anybody else's.
constexpr const char* kHers = "Quetzalcoatl";

class ForgetTest : public ClassFixture {
 protected:
  ForgetTest() {
    hand_in("ada", fmt::format("xxx // {}", kHers));
    hand_in("ada", fmt::format("why = \"{}, since {}\"", kHers, kHers), "answers.toml");
    hand_in("bob", "xx // by the other one");
  }

  std::filesystem::path cache() const { return folder_.path() / "cache"; }

  BatchRequest request() const {
    BatchRequest request = ClassFixture::request();
    request.roster =
        file("roster.csv", fmt::format("key,name,email,login,exam\nada,{} L,{}@x.org,ada,"
                                       "17.25\nbob,Bob,bob@x.org,bob,18.75\n",
                                       kHers, kHers));
    request.policy =
        file("late.toml", fmt::format("# {} is ill\ndue = 2026-11-20T12:00:00Z\n[[step]]\n"
                                      "after_hours = 0\nkeeps = 1\n[[extension]]\n"
                                      "student = \"{}@x.org\"\n"
                                      "due = 2026-12-01T12:00:00Z\n",
                                      kHers, kHers));
    request.groups = file("groups.csv", fmt::format("group,student\n{}s,ada\nother,bob\n", kHers));
    return request;
  }

  Forgotten forget(const std::string& who) {
    Batch batch(request_again());
    Forgotten forgotten = rooflab::forget(batch.store(), batch.folder(), who, cache());
    batch.write_outputs(course_, work(), listener_);
    return forgotten;
  }

  BatchRequest request_again() const {
    BatchRequest again;
    again.out = out();
    again.resume = true;
    return again;
  }

  /// Files of the batch that hold a text, whatever else is in them.
  std::vector<std::string> files_with(const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& path : files_below(out())) {
      const bool is_in_name = path.filename().string().find(text) != std::string::npos;
      if (is_in_name || read_file(path).find(text) != std::string::npos) {
        names.push_back(std::filesystem::relative(path, out()).string());
      }
    }
    return names;
  }
};

TEST_F(ForgetTest, NothingOfTheStudentIsLeftInAnyFileOfTheBatch) {
  run(request());
  ASSERT_THAT(files_with(kHers), AllOf(Contains("batch.sqlite"), Contains("grades.csv"),
                                       Contains("feedback/ada.html")));
  ASSERT_FALSE(files_with("ada-part1").empty()) << "her answers";
  ReviewStore(*std::make_unique<Store>(out() / "batch.sqlite"))
      .add_comment({.students = {"ada"}, .part = 1, .source = "s", .text = kHers},
                   {.by = "bob", .at = 1});
  const Forgotten forgotten = forget("ada");
  EXPECT_EQ(forgotten.rows.submissions, 1U);
  EXPECT_EQ(forgotten.rows.gradings, 1U);
  EXPECT_EQ(forgotten.rows.comments, 1U);
  EXPECT_GE(forgotten.files, 3U);
  EXPECT_THAT(files_with(kHers), IsEmpty()) << "free pages of the database too";
  EXPECT_THAT(files_with("ada-part1"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(out() / "feedback" / "ada.html"));
  EXPECT_THAT(grades(), ElementsAre("bob|2"));
}

TEST_F(ForgetTest, WhatItCannotReachIsSaid) {
  run(request());
  EXPECT_THAT(
      forget(fmt::format("{}@x.org", kHers)).left,
      AllOf(Contains(HasSubstr("ada in " + submissions().string())),
            Contains(HasSubstr("rosters, policies, groups")), Contains(HasSubstr("backups"))));
}

TEST_F(ForgetTest, OthersKeepWhatTheyHave) {
  hand_in("bob", fmt::format("xxx // {}", kHers));  // word for word
  run(request());
  forget("ada");
  EXPECT_THAT(grades(), ElementsAre("bob|3"));
  EXPECT_THAT(query("SELECT content FROM sources", 1), ElementsAre(HasSubstr(kHers)));
  EXPECT_THAT(query("SELECT evidence <> '' FROM evidence", 1), ElementsAre("1"));
  BatchRequest again = request_again();
  std::filesystem::remove_all(submissions() / "ada");
  EXPECT_EQ(run(again).outdated, 0U);
}

TEST_F(ForgetTest, BuildsOfTheirFilesGoWhereNobodyElseHasThem) {
  run(request());
  const BuildCache builds(cache() / "build");
  const auto keep = [&](const std::string& name, const std::string& source) {
    std::filesystem::create_directories(builds.folder() / "tmp" / name);
    write_file_atomically(builds.folder() / "tmp" / name / BuildCache::kFileName, "ELF");
    builds.keep("compiler\n" + source, {}, builds.folder() / "tmp" / name);
  };
  keep("a", fmt::format("xxx // {}", kHers));
  keep("b", "xx // by the other one");
  write_file_atomically(cache() / "machine_code" / "f00d", "cubin");
  EXPECT_EQ(forget("ada").builds, 1U);
  EXPECT_FALSE(builds.find(fmt::format("compiler\nxxx // {}", kHers)));
  EXPECT_TRUE(builds.find("compiler\nxx // by the other one"));
  EXPECT_FALSE(std::filesystem::exists(cache() / "machine_code" / "f00d"));
}

TEST_F(ForgetTest, WhoIsNobodyOrSeveralIsRefused) {
  run(request());
  EXPECT_THAT(complaint([&] { forget("mallory"); }), HasSubstr("--forget mallory: nobody"));
  BatchRequest twins = request();
  twins.roster = file("roster.csv", "key,name\nada,Wei Chen\nbob,Wei Chen\n");
  run(twins);
  EXPECT_THAT(complaint([&] { forget("Wei Chen"); }), HasSubstr("that may be any of ada, bob"));
  EXPECT_THAT(grades(), ElementsAre("ada|3", "bob|2"));
}

TEST_F(ForgetTest, InterruptedBeforeTheDatabaseTheSameCommandGoesOn) {
  run(request());
  {
    Batch batch(request_again());
    // As if it were killed between the files and the database.
    std::filesystem::remove(out() / "feedback" / "ada.html");
    batch.store().overwrite_free_pages();
  }
  EXPECT_EQ(forget("ada").rows.submissions, 1U);
  EXPECT_THAT(files_with(kHers), IsEmpty());
}

TEST_F(ForgetTest, InterruptedBehindTheDatabaseTheNextCommandRemovesTheOutputs) {
  run(request());
  {
    Batch batch(request_again());
    rooflab::forget(batch.store(), batch.folder(), "ada", cache());
  }
  EXPECT_THAT(files_with(kHers), Contains("grades.csv")) << "the outputs of the class are left";
  std::filesystem::remove_all(submissions() / "ada");
  run(request_again());
  EXPECT_THAT(files_with(kHers), IsEmpty());
}

TEST_F(ForgetTest, KilledAtAnyWriteOfTheDatabaseTheSameCommandFinishes) {
  run(request());
  const std::filesystem::path whole = folder_.path() / "whole";
  std::filesystem::copy(out(), whole, std::filesystem::copy_options::recursive);
  bool was_killed = true;
  for (int writes = 0; was_killed; writes += 1 + writes / 3) {
    std::filesystem::remove_all(out());
    std::filesystem::copy(whole, out(), std::filesystem::copy_options::recursive);
    const pid_t child = ::fork();
    if (child == 0) {
      const KillAtWrite kill(writes);
      forget("ada");
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    was_killed = WIFSIGNALED(status);
    const std::string said = complaint([&] { forget("ada"); });
    if (!said.empty()) {
      EXPECT_THAT(said, HasSubstr("nobody")) << writes;
      Batch(request_again()).write_outputs(course_, work(), listener_);
    }
    ASSERT_THAT(files_with(kHers), IsEmpty()) << "killed at write " << writes;
    ASSERT_THAT(grades(), ElementsAre("bob|2")) << writes;
  }
}

TEST_F(ForgetTest, ABatchOfAnOlderGraderLosesTheColumnsThatAreNotUsed) {
  run(request());
  EXPECT_THAT(files_with("17.25"), IsEmpty()) << "an exam's mark of the roster";
  Store(out() / "batch.sqlite").set("roster", read_file(folder_.path() / "roster.csv"));
  ASSERT_THAT(files_with("17.25"), ElementsAre("batch.sqlite"));
  Batch batch(request_again());
  EXPECT_THAT(files_with("17.25"), IsEmpty());
  EXPECT_EQ(batch.settings().roster->students().size(), 2U);
}

TEST_F(ForgetTest, APartnerKeepsWhatWasHandedInTogether) {
  hand_in_on_21_november();
  write_file_atomically(
      submissions() / "submission_metadata.yml",
      "submission_1:\n  :submitters:\n  - :email: ada2@x.org\n  - :email: bob2@x.org\n"
      "  :created_at: 2026-11-21 12:00:00.000000000 Z\n");
  run(ClassFixture::request());
  ASSERT_THAT(grades(), AllOf(Contains("ada2@x.org|10"), Contains("bob2@x.org|10")));
  const Forgotten forgotten = forget("ada2@x.org");
  EXPECT_EQ(forgotten.rows.submissions, 1U);
  EXPECT_EQ(forgotten.rows.gradings, 0U);
  EXPECT_THAT(grades(), Contains("bob2@x.org|10"));
  EXPECT_THAT(files_with("ada2"), IsEmpty());
  EXPECT_THAT(files_with("bob2"), Contains("grades.csv"));
}

}  // namespace
}  // namespace rooflab
