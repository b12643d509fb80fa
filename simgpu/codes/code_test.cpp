#include "simgpu/codes/code.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace simgpu {
namespace {

using testing::Optional;

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// What docs/design/codes.md says, which people read.
class CodesPage : public testing::Test {
 protected:
  const std::string page_ = text_of_file(ROOFLAB_SOURCE_DIR "/docs/design/codes.md");

  /// Code -> meaning, of the table.
  std::map<std::string, std::string> rows() const {
    static const std::regex kRow(R"(\n\| (RL\d{4}) \| (.+?) \|(?=\n))");
    std::map<std::string, std::string> found;
    for (std::sregex_iterator match(page_.begin(), page_.end(), kRow), end; match != end; ++match) {
      found.emplace((*match)[1], (*match)[2]);
    }
    std::erase_if(found, [](const auto& row) { return is_a_courses(row.first); });
    return found;
  }

  /// Courses add rows of their own.
  static bool is_a_courses(const std::string& code) { return code.starts_with("RL07"); }

  /// The codes that a section lists.
  std::set<std::string> listed(const std::string& section) const {
    static const std::regex kItem(R"(\n- (RL\d{4}))");
    const std::size_t begin = page_.find("\n## " + section);
    const std::string text = page_.substr(begin, page_.find("\n## ", begin + 1) - begin);
    std::set<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), kItem), end; match != end; ++match) {
      found.insert((*match)[1]);
    }
    return found;
  }

  static std::set<std::string> of_role(CodeRole role) {
    std::set<std::string> found;
    for (const Code code : all_codes()) {
      if (code.role() == role) found.insert(code.text());
    }
    return found;
  }
};

TEST_F(CodesPage, ListsEveryCodeWithItsMeaning) {
  std::map<std::string, std::string> listed = rows();
  for (const Code code : all_codes()) {
    EXPECT_EQ(listed[code.text()], code.meaning())
        << code.text() << ": docs/design/codes.md and simgpu/codes/table.h differ";
    listed.erase(code.text());
  }
  for (const auto& [code, meaning] : listed) {
    ADD_FAILURE() << code << " is in docs/design/codes.md, and not in simgpu/codes/table.h";
  }
}

TEST_F(CodesPage, ListsWhatIsAdviceAndWhatIsASymptom) {
  EXPECT_EQ(listed("Advice"), of_role(CodeRole::advice));
  EXPECT_EQ(listed("Symptoms"), of_role(CodeRole::symptom));
}

TEST(CodeTest, IsReadAsItIsWritten) {
  for (const Code code : all_codes()) EXPECT_THAT(Code::parse(code.text()), Optional(code));
}

TEST(CodeTest, ACoursesOwnCodesAreCodes) {
  EXPECT_THAT(Code::parse("RL0700"), Optional(Code("RL0700")));
  EXPECT_FALSE(Code("RL0799").kind());
}

TEST(CodeTest, NothingElseIsACode) {
  for (const char* text : {"", "RL", "RL0200", "RL0999", "RL9999", "RL301", "RL03010", "rl0301",
                           "RL03O1", "RL-301", "XX0301"}) {
    EXPECT_FALSE(Code::parse(text)) << text;
  }
}

TEST(CodeTest, WhatDevicesFindHasAKindAndWhatEndsALaunchAStatus) {
  EXPECT_EQ(Code("RL0201").kind(), FindingKind::out_of_bounds);
  EXPECT_EQ(Code("RL0201").status(), LaunchStatus::illegal_address);
  EXPECT_EQ(Code("RL0301").kind(), FindingKind::shared_race);
  EXPECT_EQ(Code("RL0301").status(), LaunchStatus::ok);
  EXPECT_FALSE(Code("RL0401").kind());
}

TEST(CodeTest, WhatDevicesFindComesWithAdvice) {
  for (const Code code : all_codes()) {
    // RL0325 goes by what is known beside the code.
    if (!code.kind() || code == "RL0325") continue;
    EXPECT_STRNE(code.help(), "") << code.text() << " has no .help in simgpu/codes/table.h";
  }
}

}  // namespace
}  // namespace simgpu
