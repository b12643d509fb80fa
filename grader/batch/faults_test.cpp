#include <algorithm>
#include <cerrno>
#include <cstring>

#include "grader/batch/class_fixture.h"
#include "grader/batch/store/sqlite_faults_testing.h"
#include "grader/posix/file_calls_testing.h"

/// A class whose disk is full, or fails, while it is graded.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FaultsTest : public ClassFixture {
 protected:
  FaultsTest() {
    hand_in("ada", "xx");
    hand_in("bob", "xxxxxxxxxx");
    hand_in("ada", "why = \"since\"\n", "answers.toml");
  }

  /// Every output but the database, without times of day.
  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> all;
    for (const std::filesystem::path& file : files_below(out())) {
      const std::string name = std::filesystem::relative(file, out()).string();
      if (name == "batch.sqlite" || name == "batch.lock") continue;
      std::string text = read_file(file);
      for (std::size_t at = 0; (at = text.find(" UTC", at)) != std::string::npos; ++at) {
        text.replace(at - std::min<std::size_t>(at, 16), 16, "");
        at -= std::min<std::size_t>(at, 16);
      }
      all[name] = text;
    }
    return all;
  }

  /// What the batch complains of while the calls are these; then the same command has to go on.
  std::string disturbed(const FileCalls& calls) {
    std::filesystem::remove_all(out());
    const InstalledFileCalls installed(calls);
    return complaint([&] { run(); });
  }
};

TEST_F(FaultsTest, TheSameCommandGoesOnFromWhereverTheDiskWasFull) {
  run();
  const auto expected = outputs();
  const auto let_fail_from = [](FileCalls& calls, const std::string& call, int error, int first) {
    return call == "write"    ? let_fail(calls.write, error, first)
           : call == "rename" ? let_fail(calls.rename, error, first)
                              : let_fail(calls.mkdir, error, first);
  };
  for (const auto& [call, error] :
       {std::pair<std::string, int>{"write", ENOSPC}, {"rename", EIO}, {"mkdir", EACCES}}) {
    for (int first = 0; first < 100; first += first < 6 ? 1 : 5) {
      FileCalls calls;
      const CallCount count = let_fail_from(calls, call, error, first);
      const std::string said = disturbed(calls);
      if (*count <= first) break;
      EXPECT_THAT(said, HasSubstr(std::strerror(error))) << call << first;
      EXPECT_THAT(said, HasSubstr(error == ENOSPC ? "free some space"
                                  : error == EIO  ? "check the disk"
                                                  : "be written to"))
          << call << first;
      run();
      EXPECT_EQ(outputs(), expected) << call << first;
      EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|10"));
    }
  }
}

TEST_F(FaultsTest, TheSameCommandGoesOnFromWhereverTheDatabaseWasFull) {
  run();
  const auto expected = outputs();
  for (int first = 0;; first += 7) {
    std::filesystem::remove_all(out());
    bool reached = false;
    {
      const SqliteFaults faults("write", ENOSPC, first);
      const std::string said = complaint([&] { run(); });
      reached = faults.reached();
      EXPECT_THAT(said, HasSubstr(reached ? "free some space" : "")) << first;
    }
    if (!reached) break;
    run();
    EXPECT_EQ(outputs(), expected) << first;
    EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|10"));
  }
}

TEST_F(FaultsTest, AnOutputThatCannotBeWrittenCostsItselfAlone) {
  run();
  const auto expected = outputs();
  for (const auto& [lost, text] : expected) {
    FileCalls calls;
    calls.rename = [name = (out() / lost).string()](const char* from, const char* to) {
      if (name != to) return ::rename(from, to);
      errno = EIO;
      return -1;
    };
    EXPECT_THAT(disturbed(calls), HasSubstr("cannot write " + (out() / lost).string()));
    auto rest = expected;
    rest.erase(lost);
    EXPECT_EQ(outputs(), rest) << lost;
  }
}

TEST_F(FaultsTest, AFolderWithoutLocksIsNotTakenForAnotherBatch) {
  FileCalls calls;
  let_fail(calls.flock, ENOLCK);
  EXPECT_THAT(disturbed(calls), HasSubstr("on a file system that has locks"));
  FileCalls interrupted;
  let_fail(interrupted.flock, EINTR, 0, 2);
  EXPECT_EQ(disturbed(interrupted), "");
}

}  // namespace
}  // namespace rooflab
