#include <algorithm>

#include "grader/review/review_fixture.h"
#include "grader/review/review_frame.h"

/// What assistants see and do, through requests and pages.
namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReviewTest : public ReviewFixture {
 protected:
  ReviewTest() {
    write_file_atomically(folder_.path() / "starter" / "part1-test" / "a.cu",
                          "int main() {\n  // TODO\n}\n");
    hand_in("ann", "int main() {\n  xxx\n}\n");
    hand_in("ann", "why = \"\"\"Bandwidth <b>bounds</b> it.\"\"\"\n", "answers.toml");
    hand_in("ben", "xxxxxxxxxx\n");
    hand_in("ben", "why = \"\"\"No idea.\"\"\"\n", "answers.toml");
  }

  std::string question(ReviewApp& app, int row = 0, const ReviewFields& more = {}) {
    ReviewFields fields = of(team(app, row));
    fields.emplace("item", "why");
    return get(app, "question", with(fields, more)).body;
  }
  /// Grades the answer of that row. @return the status
  int grade_answer(ReviewApp& app, int row, const std::string& page, const ReviewFields& more) {
    return post(app, "answer",
                with(with(of(team(app, row)), {{"item", "why"},
                                               {"revisions", field(page, "revisions")},
                                               {"rubric_versions", field(page, "rubric_versions")},
                                               {"grading", field(page, "grading")}}),
                     more))
        .status;
  }
  void add_rubric(const std::string& text, const std::string& points) {
    const auto added =
        post(*ada_, "rubric",
             with(of(team(*ada_)), {{"item", "why"}, {"text", text}, {"points", points}}));
    ASSERT_EQ(added.location.substr(0, 9), "question?") << added.body;
  }
  std::string output(const std::string& name) const { return read_file(out() / name); }
};

TEST_F(ReviewTest, ShowsTheClassAtAGlance) {
  grade();
  const std::string page = get(*ada_, "").body;
  EXPECT_THAT(page, AllOf(HasSubstr(">ann</a>"), HasSubstr(">ben</a>"), HasSubstr("2 submissions"),
                          HasSubstr("free text to grade")));
  EXPECT_THAT(get(*ada_, "", {{"part", "1"}}).body, HasSubstr("count</th>"));
}

TEST_F(ReviewTest, ChoosesAndOrdersTheClass) {
  grade();
  EXPECT_THAT(
      get(*ada_, "", {{"q", "BEN"}}).body,
      AllOf(HasSubstr(">ben</a>"), Not(HasSubstr(">ann</a>")), HasSubstr("1 of 2 submissions")));
  EXPECT_THAT(get(*ada_, "", {{"state", "regraded"}}).body, HasSubstr("0 of 2 submissions"));
  const std::string most = get(*ada_, "", {{"sort", "-points"}}).body;
  EXPECT_LT(most.find(">ben</a>"), most.find(">ann</a>"));
  const std::string fewest = get(*ada_, "", {{"sort", "points"}}).body;
  EXPECT_LT(fewest.find(">ann</a>"), fewest.find(">ben</a>"));
}

TEST_F(ReviewTest, PreviousAndNextStayInTheListThatAPageWasOpenedFrom) {
  hand_in("cem", "xx\n");
  hand_in("dan", "xxx\n");
  hand_in("dan", "why = \"memory\"\n", "answers.toml");
  grade();
  const ReviewFields list = {{"state", "free-text"}, {"sort", "-points"}};
  const std::string page = get(*ada_, "", list).body;
  EXPECT_LT(page.find(">ben</a>"), page.find(">ann</a>"));
  EXPECT_THAT(page, HasSubstr("&amp;state=free-text&amp;sort=-points"));
  const std::string ann = get(*ada_, "submission", with(of(team(*ada_, 0)), list)).body;
  const auto link_to = [&](int row) {
    return "student=" + team(*ada_, row) + "&amp;part=1&amp;state=";
  };
  EXPECT_THAT(ann, AllOf(HasSubstr(link_to(1) + "free-text&amp;sort=-points\" data-key=\"[\""),
                         HasSubstr(link_to(3) + "free-text&amp;sort=-points\" data-key=\"]\""),
                         HasSubstr("back to the list (3)")));
  EXPECT_THAT(ann, HasSubstr("name=\"state\" value=\"free-text\"")) << "forms lead back to it";
  // A submission that has left the list still stands where it was.
  const std::string cem = get(*ada_, "submission", with(of(team(*ada_, 2)), list)).body;
  EXPECT_THAT(cem, AllOf(HasSubstr(link_to(3) + "free-text&amp;sort=-points\" data-key=\"[\""),
                         Not(HasSubstr("data-key=\"]\""))));
}

TEST_F(ReviewTest, TheHistoryIsChosenByWhoAndWhatAndLeadsToTheSubmission) {
  grade();
  const ReviewFields points = {{"revisions", "0"}, {"points", "1"}, {"reason", "fast"}};
  post(*ada_, "points", with(with(of(team(*ada_)), {{"item", "count"}}), points));
  post(*bob_, "comment",
       with(of(team(*bob_, 1)), {{"source", ""}, {"file", ""}, {"line", "0"}, {"text", "slow"}}));
  const std::string all = get(*ada_, "history").body;
  EXPECT_THAT(all, AllOf(HasSubstr("fast"), HasSubstr("slow"),
                         HasSubstr("submission?student=" + team(*ada_) + "&amp;part=1")));
  const auto chosen = [&](const ReviewFields& fields) {
    return get(*ada_, "history", fields).body;
  };
  EXPECT_THAT(chosen({{"by", "Ada"}}), AllOf(HasSubstr("fast"), Not(HasSubstr("<ins>slow"))));
  EXPECT_THAT(chosen({{"what", "comment written"}}),
              AllOf(HasSubstr("slow"), Not(HasSubstr("fast"))));
  EXPECT_THAT(chosen({{"q", "FAST"}}), AllOf(HasSubstr("1 point: fast"), Not(HasSubstr("slow"))));
  EXPECT_THAT(chosen({{"q", "'; DROP TABLE review_log"}}), HasSubstr("Nothing was done"));
}

TEST_F(ReviewTest, WhoIsNotOnTheRosterWaitsApart) {
  BatchRequest with_roster = request();
  with_roster.roster = file("roster.csv", "login,name\nann,Ann\n");
  run(with_roster);
  ada_ = make("Ada");
  EXPECT_THAT(get(*ada_, "").body, HasSubstr("not on the roster (1)"));
  EXPECT_THAT(get(*ada_, "questions").body,
              HasSubstr("1 of 1 answers (and 1 of nobody on the roster)"));
  EXPECT_THAT(question(*ada_),
              AllOf(HasSubstr("not on the roster, waits"), Not(HasSubstr("data-key=\"w\""))));
  EXPECT_THAT(output("free_text.csv"), HasSubstr(",\"pending, not on the roster\","));
}

TEST_F(ReviewTest, ShowsFilesBesideTheStarterAndEvidenceWithHiddenCases) {
  grade();
  const std::string page = submission(*ada_);
  EXPECT_THAT(page, AllOf(HasSubstr("<tr class=\"gone\"><td class=\"n\"></td><td class=\"m\">−</td>"
                                    "<td><code>  // TODO</code>"),
                          HasSubstr("<code>  xxx</code>"), HasSubstr("+1 −1 lines")));
  EXPECT_THAT(page, AllOf(HasSubstr("Students are not told what stands here"),
                          HasSubstr("expected 41.75, got 13.5 at [127, 3]")));
  EXPECT_THAT(page, HasSubstr("Bandwidth &lt;b&gt;bounds&lt;/b&gt; it."));
}

TEST_F(ReviewTest, ACommentOnALineReachesTheStudentWithThatLine) {
  grade();
  const ReviewFields here = with(of(team(*ada_)), {{"file", "part1-test/a.cu"}, {"line", "2"}});
  const std::string form = get(*ada_, "submission", here).body;
  EXPECT_THAT(form, HasSubstr("Comment on part1-test/a.cu:2"));
  const auto kept =
      post(*ada_, "comment",
           with(here, {{"source", field(form, "source")}, {"text", "Why <xxx>?\r\nSay more."}}));
  EXPECT_THAT(kept.location, HasSubstr("#c1"));
  EXPECT_THAT(submission(*bob_), HasSubstr("Why &lt;xxx&gt;?\nSay more."));
  EXPECT_THAT(get(*bob_, "outputs").body, HasSubstr("Write all outputs now"));
  EXPECT_EQ(post(*bob_, "outputs", {}).status, 200);
  EXPECT_THAT(output("feedback/ann.html"),
              AllOf(HasSubstr("part1-test/a.cu:2"), HasSubstr("Why &lt;xxx&gt;?\nSay more."),
                    HasSubstr("<b>  xxx</b>")));
  EXPECT_THAT(output("feedback/ben.html"), Not(HasSubstr("Say more.")));
  EXPECT_THAT(output("gradescope/ann.json"), HasSubstr("Say more."));
}

TEST_F(ReviewTest, PointsWithAReasonCountInTheGradebooks) {
  grade();
  const std::string page = submission(*ada_, 1);
  const ReviewFields form = with(
      of(team(*ada_, 1)),
      {{"item", "count"}, {"revisions", "0"}, {"points", "-2,5"}, {"reason", "global variables"}});
  EXPECT_THAT(post(*ada_, "points", form).location, HasSubstr("submission?"));
  EXPECT_THAT(submission(*bob_, 1), AllOf(HasSubstr("<b class=\"minus\">-2.5</b>"),
                                          HasSubstr("global variables"), HasSubstr("by Ada")));
  post(*ada_, "outputs", {});
  EXPECT_THAT(output("feedback/ben.html"), AllOf(HasSubstr("-2.5"), HasSubstr("global variables")));
  EXPECT_THAT(output("grades.csv"), HasSubstr(",-2.5,"));
  // A later batch writes the same.
  const std::string grades = output("grades.csv");
  run();
  EXPECT_EQ(output("grades.csv"), grades);
}

TEST_F(ReviewTest, AsksForPointsThatAreNumbersAndForAReasonAndKeepsWhatWasTyped) {
  grade();
  const ReviewFields base = with(of(team(*ada_)), {{"item", "count"}, {"revisions", "0"}});
  const auto wrong = post(*ada_, "points", with(base, {{"points", "two"}, {"reason", "my words"}}));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, AllOf(HasSubstr("is no number of points"), HasSubstr("my words"),
                                HasSubstr("value=\"two\"")));
  EXPECT_EQ(post(*ada_, "points", with(base, {{"points", "1"}})).status, 400);
  for (const char* number : {"nan", "inf", "1e9", "0x10", "1001", "", "1 2"}) {
    EXPECT_EQ(post(*ada_, "points", with(base, {{"points", number}, {"reason", "r"}})).status, 400)
        << number;
  }
  EXPECT_EQ(query("SELECT count(*) FROM manual_points", 1).at(0), "0");
}

TEST_F(ReviewTest, TwoAssistantsDoNotLoseEachOthersWords) {
  grade();
  const ReviewFields base = with(of(team(*ada_)), {{"item", "count"}, {"revisions", "0"}});
  ASSERT_NE(
      post(*ada_, "points", with(base, {{"points", "1"}, {"reason", "Ada's reason"}})).location,
      "");
  ReviewFields late =
      with(of(team(*bob_)),
           {{"item", "count"}, {"revisions", "0"}, {"points", "2"}, {"reason", "Bob's reason"}});
  const auto refused = post(*bob_, "points", late);
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body,
              AllOf(HasSubstr("Ada has written meanwhile: 1 point: Ada&#39;s reason"),
                    HasSubstr("\nBob&#39;s reason</textarea>"), HasSubstr("value=\"2\"")));
  EXPECT_THAT(query("SELECT comment FROM manual_points", 1), testing::ElementsAre("Ada's reason"));
  // Sent again from that page, knowingly.
  late.erase("revisions");
  late.emplace("revisions", "1");
  EXPECT_EQ(post(*bob_, "points", late).status, 200);
  EXPECT_THAT(get(*ada_, "history").body,
              AllOf(HasSubstr("1 point: Ada&#39;s reason"), HasSubstr("2 points: Bob&#39;s reason"),
                    HasSubstr("<b>Bob</b> points given")));
}

TEST_F(ReviewTest, ACommentThatSomebodyChangedMeanwhileIsNotOverwritten) {
  grade();
  const ReviewFields base = of(team(*ada_));
  post(*ada_, "comment",
       with(base, {{"source", ""}, {"file", ""}, {"line", "0"}, {"text", "one"}}));
  const ReviewFields old = {{"comment", "1"}, {"version", "1"}};
  ASSERT_NE(post(*ada_, "comment", with(with(base, old), {{"text", "Ada's two"}})).location, "");
  const auto refused =
      post(*bob_, "comment", with(with(of(team(*bob_)), old), {{"text", "Bob's two"}}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("Ada has written meanwhile: Ada&#39;s two"),
                                  HasSubstr("\nBob&#39;s two</textarea>"),
                                  HasSubstr("name=\"version\" value=\"2\"")));
  post(*ada_, "comment", with(base, {{"comment", "1"}, {"version", "2"}, {"remove", "1"}}));
  const auto homeless =
      post(*bob_, "comment",
           with(of(team(*bob_)), {{"comment", "1"}, {"version", "2"}, {"text", "Bob's three"}}));
  EXPECT_EQ(homeless.status, 409);
  EXPECT_THAT(homeless.body,
              AllOf(HasSubstr("this is what you wrote"), HasSubstr("Bob&#39;s three")));
}

TEST_F(ReviewTest, GradesAnAnswerByTheRubricAndAllWhoHaveAnItemByItsChange) {
  grade();
  add_rubric("names the bandwidth", "+3");
  add_rubric("no unit", "-1");
  EXPECT_EQ(grade_answer(*ada_, 0, question(*ada_),
                         {{"rubric", "1"}, {"rubric", "2"}, {"comment", "close"}}),
            200);
  EXPECT_EQ(grade_answer(*ada_, 1, question(*ada_, 1), {{"rubric", "1"}}), 200);
  post(*ada_, "outputs", {});
  EXPECT_THAT(
      output("feedback/ann.html"),
      AllOf(HasSubstr("names the bandwidth (+3)\nno unit (-1)\nclose"), HasSubstr("2 of 4")));
  post(*bob_, "rubric",
       with(of(team(*bob_)), {{"item", "why"},
                              {"rubric", "1"},
                              {"version", "1"},
                              {"text", "names it"},
                              {"points", "4"}}));
  post(*bob_, "outputs", {});
  EXPECT_THAT(output("feedback/ann.html"), HasSubstr("names it (+4)\nno unit (-1)\nclose"));
  EXPECT_THAT(output("feedback/ben.html"), HasSubstr("4 of 4"));
  EXPECT_THAT(output("free_text.csv"), HasSubstr("ben,1,why,4,4,names it (+4),Bob,graded"));
  EXPECT_EQ(query("SELECT count(*) FROM review_log WHERE what LIKE 'points%'", 1).at(0), "4");
}

TEST_F(ReviewTest, AnAnswerThatIsAnotherTextSinceItWasGradedWaitsAgain) {
  grade();
  add_rubric("names the bandwidth", "+3");
  const std::string seen_before = question(*ada_);
  grade_answer(*ada_, 0, seen_before, {{"rubric", "1"}});
  hand_in("ann", "why = \"\"\"another answer\"\"\"\n", "answers.toml");
  BatchRequest again = request();
  again.regrade = {"ann"};
  run(again);
  EXPECT_THAT(question(*ada_), AllOf(HasSubstr("another answer"),
                                     HasSubstr("waits again, 3 points were for an earlier text")));
  EXPECT_THAT(submission(*ada_), HasSubstr("3 points for an earlier text, waits again"));
  post(*ada_, "outputs", {});
  EXPECT_THAT(output("free_text.csv"), HasSubstr("ann,1,why,,4,,,pending")) << "nothing to confirm";
  EXPECT_EQ(grade_answer(*bob_, 0, seen_before, {{"revisions", "1"}, {"rubric", "1"}}), 409);
  EXPECT_EQ(grade_answer(*bob_, 0, question(*bob_), {{"rubric", "1"}}), 200);
  EXPECT_THAT(question(*ada_), Not(HasSubstr("an earlier text")));
  post(*ada_, "outputs", {});
  EXPECT_THAT(output("free_text.csv"), HasSubstr("ann,1,why,3,4,"));
}

TEST_F(ReviewTest, TheTableOfAnswersComesBackAsItWentOut) {
  grade();
  add_rubric("names the bandwidth", "+3");
  grade_answer(*ada_, 0, question(*ada_), {{"rubric", "1"}, {"comment", "close"}});
  post(*ada_, "outputs", {});
  BatchRequest again = request();
  again.manual = out() / "free_text.csv";
  run(again);
  EXPECT_EQ(query("SELECT count(*) FROM manual_points", 1).at(0), "1");
  EXPECT_THAT(question(*ada_), HasSubstr("value=\"1\" checked"));
}

TEST_F(ReviewTest, KeepsChosenItemsOfALostUpdateAndGoesToTheNextThatWaits) {
  grade();
  add_rubric("names the bandwidth", "3");
  const std::string seen_by_bob = question(*bob_);
  const auto kept = post(*ada_, "answer",
                         with(of(team(*ada_)), {{"item", "why"},
                                                {"revisions", "0"},
                                                {"grading", field(seen_by_bob, "grading")},
                                                {"rubric_versions", "1.1"},
                                                {"go", "next"},
                                                {"adjustment", "1"},
                                                {"comment", "Ada's"}}));
  EXPECT_THAT(kept.location, HasSubstr("student=" + team(*ada_, 1)));
  const auto refused = post(*bob_, "answer",
                            with(of(team(*bob_)), {{"item", "why"},
                                                   {"revisions", field(seen_by_bob, "revisions")},
                                                   {"grading", field(seen_by_bob, "grading")},
                                                   {"rubric", "1"},
                                                   {"comment", "Bob's"}}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("Ada has written meanwhile"), HasSubstr(" checked"),
                                  HasSubstr("\nBob&#39;s</textarea>")));
}

TEST_F(ReviewTest, KeepSaysThatTheRubricIsAnotherSinceThePageWasRead) {
  grade();
  add_rubric("names the bandwidth", "+3");
  const std::string seen_by_bob = question(*bob_, 1);
  post(*ada_, "rubric",
       with(of(team(*ada_)), {{"item", "why"},
                              {"rubric", "1"},
                              {"version", "1"},
                              {"text", "names it"},
                              {"points", "+4"}}));
  const ReviewFields form =
      with(of(team(*bob_, 1)), {{"item", "why"},
                                {"revisions", field(seen_by_bob, "revisions")},
                                {"grading", field(seen_by_bob, "grading")},
                                {"rubric", "1"},
                                {"comment", "Bob's"}});
  const auto refused = post(
      *bob_, "answer", with(form, {{"rubric_versions", field(seen_by_bob, "rubric_versions")}}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body,
              AllOf(HasSubstr("the rubric has changed since you read this page: an item is now "
                              "names it (+4)"),
                    HasSubstr(" checked"), HasSubstr("\nBob&#39;s</textarea>")));
  EXPECT_EQ(query("SELECT count(*) FROM manual_points", 1).at(0), "0");
  const std::string versions = field(refused.body, "rubric_versions");
  EXPECT_EQ(post(*bob_, "answer", with(form, {{"rubric_versions", versions}})).status, 200);
  EXPECT_EQ(query("SELECT points FROM manual_points", 1).at(0), "4.0");
  EXPECT_EQ(post(*bob_, "answer", with(form, {{"rubric_versions", "1.x"}})).status, 400);
}

TEST_F(ReviewTest, HidesWhoseAnswersTheyAre) {
  grade();
  const std::string page = question(*ada_, 0, {{"anonymous", "1"}});
  EXPECT_THAT(page, AllOf(HasSubstr("Answer 1"), HasSubstr("Answer 2"), Not(HasSubstr("ann")),
                          Not(HasSubstr("ben<")), Not(HasSubstr("submission?"))));
  EXPECT_THAT(question(*ada_), HasSubstr(">ann<"));
}

TEST_F(ReviewTest, AnswersWhoseKeysAndItemsAreOnTheKeyboard) {
  grade();
  add_rubric("one", "1");
  add_rubric("two", "1");
  EXPECT_THAT(question(*ada_), AllOf(HasSubstr("data-key=\"1\" aria-keyshortcuts=\"1\""),
                                     HasSubstr("data-key=\"2\" aria-keyshortcuts=\"2\""),
                                     HasSubstr("<kbd>2</kbd>")));
}

TEST_F(ReviewTest, TakesNoPathsThatTheDatabaseDoesNotKnow) {
  grade();
  const std::string form = submission(*ada_);
  for (const char* path : {"/etc/passwd", "../../etc/passwd", "part1-test/b.cu"}) {
    const auto refused = post(
        *ada_, "comment",
        with(of(team(*ada_)),
             {{"source", field(form, "source")}, {"file", path}, {"line", "1"}, {"text", "t"}}));
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_THAT(get(*ada_, "submission", with(of(team(*ada_)), {{"file", path}})).body,
                Not(HasSubstr("root:")))
        << path;
  }
  EXPECT_EQ(get(*ada_, "../batch.sqlite").status, 404);
  EXPECT_EQ(get(*ada_, "submission", of("nobody")).status, 404);
  EXPECT_EQ(get(*ada_, "submission", {{"student", team(*ada_)}, {"part", "7"}}).status, 404);
}

TEST_F(ReviewTest, PartnersAreOneRowAndGetTheSamePointsAndComments) {
  hand_in("submission_7", "xxxxx\n");
  write_file_atomically(submissions() / "submission_metadata.yml",
                        "submission_7:\n  :created_at: 2023-11-14 22:13:21 Z\n  :submitters:\n"
                        "  - :name: Cem\n    :sid: c1\n    :email: cem@x.org\n"
                        "  - :name: Dora\n    :sid: d1\n    :email: dora@x.org\n");
  grade();
  const std::string page = get(*ada_, "", {{"q", "dora"}}).body;
  EXPECT_THAT(page, HasSubstr(">Cem, Dora</a>"));
  const std::string id = team_of_link(page);
  const std::string form = get(*ada_, "submission", of(id)).body;
  EXPECT_THAT(form, HasSubstr("written for all 2 partners"));
  EXPECT_THAT(field(form, "revisions"), "0-0");
  EXPECT_EQ(post(*ada_, "points",
                 with(of(id), {{"item", "count"},
                               {"revisions", "0-0"},
                               {"points", "1.5"},
                               {"reason", "both of you"}}))
                .status,
            200);
  EXPECT_EQ(query("SELECT count(*) FROM manual_points WHERE points = 1.5", 1).at(0), "2");
  EXPECT_EQ(
      post(*ada_, "points",
           with(of(id),
                {{"item", "count"}, {"revisions", "1"}, {"points", "1"}, {"reason", "one of you"}}))
          .status,
      400);
  post(*ada_, "comment",
       with(of(id), {{"source", ""}, {"file", ""}, {"line", "0"}, {"text", "well shared"}}));
  EXPECT_EQ(query("SELECT count(*) FROM review_comment_students", 1).at(0), "2");
}

TEST_F(ReviewTest, HostileNamesAndFilesAreTextFromTheFolderToThePage) {
  const std::string name = "\"><img src=x onerror=alert(1)>\u202E'\x1b";
  hand_in(name, "</code></td></script><script>alert(1)</script>\n\x01\u202E\n");
  hand_in(name, "why = \"\"\"</textarea><script>alert(2)</script>\"\"\"\n", "answers.toml");
  grade();
  const std::string list = get(*ada_, "", {{"q", "onerror"}}).body;
  const std::string id = team_of_link(list);
  ASSERT_EQ(id.size(), 20U);
  const std::string page = get(*ada_, "submission", of(id)).body;
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  const ReviewFields question = with(of(id), {{"item", "why"}});
  // A comment and points go to that student and no other, whatever the key is like.
  post(*ada_, "points",
       with(of(id), {{"item", "overall"},
                     {"revisions", "0"},
                     {"points", "1"},
                     {"reason", "</textarea><b>well</b>"}}));
  EXPECT_EQ(query("SELECT count(*) FROM manual_points", 1).at(0), "1");
  for (const std::string& html :
       {list, page, get(*ada_, "question", question).body, get(*ada_, "submission", of(id)).body,
        get(*ada_, "history").body}) {
    for (const char* harm : {"<img", "<script>", "<b>well", "\u202E", "\x1b", "\x01"}) {
      EXPECT_THAT(html, Not(HasSubstr(harm)));
    }
  }
}

TEST_F(ReviewTest, SaysWhenABatchIsAtWorkAndLosesNothing) {
  grade();
  const BatchFolder held(out());
  const auto refused = post(*ada_, "outputs", {});
  EXPECT_EQ(refused.status, 500);
  EXPECT_THAT(refused.body, HasSubstr("another batch is at work"));
  EXPECT_EQ(post(*ada_, "comment",
                 with(of(team(*ada_)),
                      {{"source", ""}, {"file", ""}, {"line", "0"}, {"text", "meanwhile"}}))
                .status,
            200);
  EXPECT_THAT(submission(*bob_), HasSubstr("meanwhile"));
  for (const char* page : {"", "outputs"}) {
    EXPECT_THAT(get(*ada_, page).body, HasSubstr("A batch is running now:"));
  }
}

TEST(ReviewForms, ReadPointsAsPeopleWriteThem) {
  EXPECT_EQ(points_of_form(" +2 "), 2);
  EXPECT_EQ(points_of_form("-0,5"), -0.5);
  EXPECT_EQ(points_of_form("\u22121"), -1);
  EXPECT_THROW(points_of_form("--1"), FormError);
  EXPECT_THROW(text_of_form(std::string(30'000, 'x')), FormError);
  EXPECT_EQ(text_of_form("\r\n a\r\nb\rc \n"), "a\nb\nc");
}

}  // namespace
}  // namespace rooflab
