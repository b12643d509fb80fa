#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>

#include "simgpu/toolchain/code_cache.h"

namespace simgpu::toolchain {
namespace {

namespace fs = std::filesystem;

class Cache : public ::testing::Test {
 protected:
  Cache() { fs::remove_all(folder_.parent_path()); }
  ~Cache() override { fs::remove_all(folder_.parent_path()); }

  static std::vector<std::byte> object(std::size_t bytes, int value) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
  }
  fs::path only_file() const {
    for (const auto& entry : fs::directory_iterator(folder_)) return entry.path();
    return {};
  }

  fs::path folder_ =
      fs::path(::testing::TempDir()) / ("code_cache_" + std::to_string(::getpid())) / "kept";
  CodeCache cache_{folder_};
};

TEST_F(Cache, GivesBackWhatWasKeptForTheSameKeyAlone) {
  EXPECT_EQ(cache_.find("key"), std::nullopt);
  cache_.keep("key", object(1000, 7));
  EXPECT_EQ(cache_.find("key"), object(1000, 7));
  EXPECT_EQ(cache_.find("kez"), std::nullopt);
  EXPECT_EQ(CodeCache(folder_).find("key"), object(1000, 7));
}

TEST_F(Cache, IsOfNobodyElse) {
  cache_.keep("key", object(10, 1));
  struct stat status {};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  ASSERT_EQ(stat(only_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(Cache, LoadsNothingThatOthersMayHaveWritten) {
  cache_.keep("key", object(10, 1));
  const fs::path file = only_file();
  chmod(file.c_str(), 0620);
  EXPECT_EQ(cache_.find("key"), std::nullopt) << "a file that its group may write to";
  chmod(file.c_str(), 0600);
  EXPECT_NE(cache_.find("key"), std::nullopt);
  chmod(folder_.c_str(), 0770);
  EXPECT_EQ(cache_.find("key"), std::nullopt) << "a folder that its group may write to";
  chmod(folder_.c_str(), 0700);
  fs::rename(file, folder_.parent_path() / "elsewhere");
  fs::create_symlink(folder_.parent_path() / "elsewhere", file);
  EXPECT_EQ(cache_.find("key"), std::nullopt) << "a link";
}

TEST_F(Cache, LoadsNothingThatIsNotWhole) {
  cache_.keep("key", object(100, 1));
  const fs::path file = only_file();
  const auto size = fs::file_size(file);
  for (std::uintmax_t at = 0; at < size; at += 13) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const int was = stream.get();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(was ^ 1));
    stream.close();
    EXPECT_EQ(cache_.find("key"), std::nullopt) << "byte " << at << " is another one";
    std::fstream again(file, std::ios::in | std::ios::out | std::ios::binary);
    again.seekp(static_cast<std::streamoff>(at));
    again.put(static_cast<char>(was));
  }
  EXPECT_NE(cache_.find("key"), std::nullopt);
  fs::resize_file(file, size - 1);
  EXPECT_EQ(cache_.find("key"), std::nullopt);
}

TEST_F(Cache, ForgetsWhatWasUsedLongestAgo) {
  const CodeCache small(folder_, 3000);
  small.keep("a", object(1200, 1));
  small.keep("b", object(1200, 2));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const auto& entry : fs::directory_iterator(folder_)) fs::last_write_time(entry, old);
  EXPECT_NE(small.find("a"), std::nullopt);  // now the younger one
  small.keep("c", object(1200, 3));
  EXPECT_NE(small.find("a"), std::nullopt);
  EXPECT_EQ(small.find("b"), std::nullopt);
  EXPECT_NE(small.find("c"), std::nullopt);
}

TEST_F(Cache, RemovesWhatAnEndedCompilationLeft) {
  cache_.keep("key", object(10, 1));
  fs::create_directory(folder_ / "work-old");
  fs::create_directory(folder_ / "work-new");
  fs::last_write_time(folder_ / "work-old",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(cache_.work_folder(), folder_);
  EXPECT_FALSE(fs::exists(folder_ / "work-old"));
  EXPECT_TRUE(fs::exists(folder_ / "work-new"));
}

}  // namespace
}  // namespace simgpu::toolchain
