#include "grader/pipeline/build_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "grader/pipeline/build.h"
#include "grader/posix/file_calls_testing.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using End = BuildOutcome::End;
using testing::HasSubstr;

class BuildCacheTest : public testing::Test {
 protected:
  BuildCacheTest() : folder_(testing::TempDir()), cache_(folder_.path() / "build") {}

  /// An outcome in a staging folder, as the builder makes one.
  BuildOutcome keep(const std::string& key, const std::string& library,
                    const std::string& messages) {
    const TemporaryFolder staging(cache_.folder());
    BuildOutcome outcome;
    outcome.messages = messages;
    outcome.end = library.empty() ? End::failed : End::built;
    if (!library.empty()) std::ofstream(staging.path() / BuildCache::kFileName) << library;
    return cache_.keep(key, outcome, staging.path());
  }

  TemporaryFolder folder_;
  BuildCache cache_;
};

TEST_F(BuildCacheTest, FindsWhatWasKeptAndNothingElse) {
  EXPECT_FALSE(cache_.find("key").has_value());
  EXPECT_FALSE(keep("key", "library", "a warning").cached);
  const auto found = cache_.find("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->end, End::built);
  EXPECT_EQ(found->messages, "a warning");
  EXPECT_EQ(read_file(found->library), "library");
  EXPECT_TRUE(found->cached);
  EXPECT_FALSE(cache_.find("kez").has_value());
}

TEST_F(BuildCacheTest, RemembersFailedBuildsToo) {
  keep("key", "", "error: expected a \";\"");
  const auto found = cache_.find("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->end, End::failed);
  EXPECT_EQ(found->messages, "error: expected a \";\"");
}

TEST_F(BuildCacheTest, KeyOfTheSameHashIsNotTakenForAnother) {
  const auto library = keep("key", "library", "").library;
  // As if another key had the same hash: the entry's place is right, its key is not.
  std::ofstream(library.parent_path() / "key") << "kex";
  EXPECT_FALSE(cache_.find("key").has_value());
  EXPECT_EQ(read_file(keep("key", "rebuilt", "").library), "rebuilt");
}

// The compiler ran as a user of the sandbox, and a later sandbox may have the same one. A library
// is for all to load, sources and messages are nobody else's.
TEST_F(BuildCacheTest, TakesWhatWasBuiltOutOfTheHandsOfTheSandbox) {
  const TemporaryFolder staging(cache_.folder());
  const auto built = staging.path() / BuildCache::kFileName;
  std::ofstream(built) << "library";
  std::filesystem::permissions(built, std::filesystem::perms::all);
  write_file_atomically(staging.path() / "include" / "task.h", "somebody's");
  if (::geteuid() == 0) {
    constexpr uid_t kSandboxUser = 40'000;
    for (const auto& path : {staging.path(), built}) {
      ASSERT_EQ(::lchown(path.c_str(), kSandboxUser, kSandboxUser), 0);
    }
  }
  BuildOutcome outcome;
  outcome.end = End::built;
  const auto kept = cache_.keep("key", outcome, staging.path()).library.parent_path();

  std::map<std::string, unsigned> modes;
  for (const auto& entry : std::filesystem::directory_iterator(kept)) {
    struct stat status {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, ::geteuid()) << entry.path();
    modes[entry.path().filename()] = status.st_mode & 0777U;
  }
  EXPECT_EQ(modes, (std::map<std::string, unsigned>{
                       {"built", 0644U}, {"key", 0600U}, {"messages", 0600U}}));
  struct stat folder {};
  ASSERT_EQ(::stat(kept.c_str(), &folder), 0);
  EXPECT_EQ(folder.st_uid, ::geteuid());
  EXPECT_EQ(folder.st_mode & 0777U, 0711U) << "others get at the library by its name alone";
}

TEST_F(BuildCacheTest, SecondGraderWithTheSameBuildUsesTheFirst) {
  keep("key", "first", "");
  EXPECT_EQ(read_file(keep("key", "second", "").library), "first");
}

// The compiler said nothing against it, so no student hears that it does not compile.
TEST_F(BuildCacheTest, AnEntryThatLostItsLibraryIsNoFailedBuild) {
  std::filesystem::remove(keep("key", "library", "").library);
  EXPECT_FALSE(cache_.find("key").has_value());
  EXPECT_EQ(read_file(keep("key", "library", "").library), "library");
  EXPECT_EQ(cache_.find("key")->end, End::built);
}

TEST_F(BuildCacheTest, AnEntryThatCannotBeReadJustNowIsBuiltAnewAndNotTakenFromOthers) {
  const auto library = keep("key", "library", "").library;
  {
    FileCalls calls;
    let_fail(calls.lstat, EIO);
    const InstalledFileCalls installed(calls);
    EXPECT_FALSE(cache_.find("key").has_value());
  }
  for (const int first : {0, 2}) {  // of the key and of the messages
    FileCalls calls;
    let_fail(calls.read, EIO, first);
    const InstalledFileCalls installed(calls);
    EXPECT_FALSE(cache_.find("key").has_value());
  }
  EXPECT_EQ(keep("key", "built anew", "").library, library);
  EXPECT_EQ(read_file(library), "library");
}

TEST_F(BuildCacheTest, WhateverFailsWhileABuildIsKeptLeavesNothingAndSaysWhatToDo) {
  using Failure = std::pair<const char*, std::function<void(FileCalls&, int error)>>;
  const Failure failures[] = {
      {"write", [](FileCalls& calls, int error) { let_fail(calls.write, error); }},
      {"write, of the key", [](FileCalls& calls, int error) { let_fail(calls.write, error, 1); }},
      {"fsync", [](FileCalls& calls, int error) { let_fail(calls.fsync, error); }},
      {"rename, of a file", [](FileCalls& calls, int error) { let_fail(calls.rename, error); }},
      {"rename", [](FileCalls& calls, int error) { let_fail(calls.rename, error, 2); }},
      {"lchown", [](FileCalls& calls, int error) { let_fail(calls.lchown, error); }},
      {"chmod", [](FileCalls& calls, int error) { let_fail(calls.chmod, error); }},
      {"lstat", [](FileCalls& calls, int error) { let_fail(calls.lstat, error); }},
  };
  for (const auto& [name, let_it_fail] : failures) {
    for (const int error : {ENOSPC, EIO}) {
      std::string said;
      {
        FileCalls calls;
        let_it_fail(calls, error);
        const InstalledFileCalls installed(calls);
        try {
          keep("key", "library", "messages");
        } catch (const FileError& failure) {
          said = failure.what();
        }
      }
      EXPECT_THAT(said, HasSubstr(std::strerror(error))) << name;
      EXPECT_THAT(said, HasSubstr(error == ENOSPC ? "free some space" : "check")) << name;
      EXPECT_FALSE(cache_.find("key").has_value()) << name;
      EXPECT_TRUE(std::filesystem::is_empty(cache_.folder())) << name << " left something behind";
    }
  }
  EXPECT_EQ(read_file(keep("key", "library", "").library), "library");
}

TEST_F(BuildCacheTest, ARenameThatFailsTakesNoEntryAway) {
  const auto library = keep("key", "library", "").library;
  FileCalls calls;
  let_fail(calls.rename, EIO, 2, 1);  // two are of files
  let_fail(calls.read, EIO, 0, 1);    // and the entry cannot be looked at just then
  {
    const InstalledFileCalls installed(calls);
    EXPECT_THROW(keep("key", "another", ""), FileError);
  }
  EXPECT_EQ(read_file(library), "library");
}

TEST_F(BuildCacheTest, SignalsCostNothing) {
  FileCalls calls;
  let_fail(calls.lchown, EINTR, 0, 1);
  let_fail(calls.rename, EINTR, 2, 1);
  let_fail(calls.chmod, EINTR, 0, 1);
  let_fail(calls.fsync, EINTR, 0, 1);
  let_write_little(calls, 2);
  const InstalledFileCalls installed(calls);
  EXPECT_EQ(read_file(keep("key", "library", "a warning").library), "library");
  EXPECT_EQ(cache_.find("key")->messages, "a warning");
}

TEST_F(BuildCacheTest, GradersAtTheSameTimeAllEndWithALibrary) {
  std::vector<std::jthread> graders;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    graders.emplace_back([&] {
      for (int key = 0; key < 20; ++key) {
        good += read_file(keep(std::to_string(key), "library", "").library) == "library" ? 1 : 0;
      }
    });
  }
  graders.clear();
  EXPECT_EQ(good, 160);
}

TEST_F(BuildCacheTest, PrunesWhatWasNotUsedForLongest) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 5; ++i) {
    const auto library = keep(std::to_string(i), "library", "").library;
    std::filesystem::last_write_time(library.parent_path() / "key",
                                     now - std::chrono::hours(10 - i));
  }
  cache_.find("0");
  cache_.prune(2);
  EXPECT_TRUE(cache_.find("0").has_value()) << "it was found just now";
  EXPECT_FALSE(cache_.find("1").has_value());
  EXPECT_FALSE(cache_.find("3").has_value());
  EXPECT_TRUE(cache_.find("4").has_value());
}

TEST_F(BuildCacheTest, PrunesWhatAKilledGraderHasPrunedByHalf) {
  const auto half = keep("key", "library", "").library.parent_path();
  std::filesystem::remove(half / "key");
  cache_.prune();
  EXPECT_TRUE(std::filesystem::exists(half)) << "another grader may be at it just now";
  std::filesystem::last_write_time(
      half, std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  cache_.prune();
  EXPECT_FALSE(std::filesystem::exists(half));
}

TEST_F(BuildCacheTest, NeverPrunesWhatIsInUse) {
  for (int i = 0; i < 5; ++i) keep(std::to_string(i), "library", "");
  cache_.prune(1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(cache_.find(std::to_string(i)).has_value());
}

}  // namespace
}  // namespace rooflab
