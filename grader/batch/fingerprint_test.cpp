#include "grader/batch/fingerprint.h"

#include <gtest/gtest.h>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

TEST(Sha256, IsThatOfTheStandard) {  // FIPS 180-2, appendix B.1
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Fingerprint, IsSha256) {  // of "3:abc", by sha256sum
  EXPECT_EQ(Fingerprint().add("abc").hex(),
            "aab5f9ae99b2e38fb462025c8f72f570c9c811705d2a4277dc855d7fa293fe97");
}

TEST(Fingerprint, TellsWhereOneTextEndsAndTheNextBegins) {
  EXPECT_NE(Fingerprint().add("ab").add("c").hex(), Fingerprint().add("a").add("bc").hex());
}

TEST(Fingerprint, OfAFolderChangesWithNamesAndContents) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto print = [&] { return Fingerprint().add_file(folder.path()).hex(); };
  write_file_atomically(folder.path() / "a", "1");
  const std::string first = print();
  EXPECT_EQ(print(), first);
  write_file_atomically(folder.path() / "a", "2");
  const std::string second = print();
  EXPECT_NE(second, first);
  std::filesystem::rename(folder.path() / "a", folder.path() / "b");
  EXPECT_NE(print(), second);
}

}  // namespace
}  // namespace rooflab
