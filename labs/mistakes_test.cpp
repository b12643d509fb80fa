// Grades every planted mistake, labs/<part>/mistakes/<name>/, and compares the verdict, the
// diagnosis and the score with what its mistake.toml expects:
//
//   task, file            the task and the wrong file; those that the task uses beside it are the
//                         solution's
//   verdict, code         what the grader must say
//   says                  words that the message of the first diagnosis must have; may be left out
//   max_score             the most points it may get
//   story                 what this student did
//   [[edit]]              find and replace: the mistake is this change of the solution's file;
//                         without edits, the file lies beside mistake.toml
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <toml++/toml.h>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "labs/grade_submission.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Replaces the only place where `find` stands.
std::string replaced_once(std::string text, const std::string& find, const std::string& replace) {
  const std::size_t place = text.find(find);
  if (place == std::string::npos || text.find(find, place + 1) != std::string::npos) {
    throw std::runtime_error("an edit must match exactly one place of the solution: " + find);
  }
  return text.replace(place, find.size(), replace);
}

class MistakeTest : public testing::Test {
 public:
  explicit MistakeTest(fs::path folder)
      : folder_(std::move(folder)),
        part_(folder_.parent_path().parent_path()),
        table_(toml::parse_file((folder_ / "mistake.toml").string())) {}

  void TestBody() override {
    const ScratchFolder submission;
    const fs::path folder = submission.path() / part_.filename();
    fs::create_directories(folder);
    std::ofstream(folder / text("file"), std::ios::binary) << source();
    for (const std::string& used : used_files()) fs::copy(solutions() / used, folder / used);

    const Grade result = grade(number_of(part_), submission.path(), {"--task", text("task")});
    ASSERT_FALSE(result.document.is_null()) << "the grader wrote no report";
    const nlohmann::json& task = result.document.at("tasks").at(0);
    EXPECT_EQ(task.at("verdict"), text("verdict")) << text("story") << "\n" << task.dump(2);
    EXPECT_THAT(codes_of(task), testing::Contains(text("code"))) << text("story") << "\n"
                                                                 << task.dump(2);
    if (table_.contains("says")) {
      EXPECT_THAT(task.at("diagnostics").at(0).at("message").get<std::string>(),
                  testing::HasSubstr(text("says")));
    }
    EXPECT_LE(task.at("score"), table_["max_score"].value<double>().value());
    EXPECT_EQ(result.exit_code, text("verdict") == "pass" ? 0 : 1);
  }

 private:
  std::string text(const char* key) const { return table_[key].value<std::string>().value(); }

  fs::path solutions() const {
    return fs::path(ROOFLAB_SOURCE_DIR "/solutions") / part_.filename();
  }

  /// What the task's `uses` names: these files are right.
  std::vector<std::string> used_files() const {
    std::vector<std::string> files;
    const toml::table part = toml::parse_file((part_ / "part.toml").string());
    for (const toml::node& node : *part["task"].as_array()) {
      const toml::table& task = *node.as_table();
      const toml::array* uses = task["uses"].as_array();
      if (task["id"].value<std::string>() != text("task") || uses == nullptr) continue;
      for (const toml::node& file : *uses) files.push_back(file.value<std::string>().value());
    }
    return files;
  }

  std::string source() const {
    const toml::array* edits = table_["edit"].as_array();
    if (edits == nullptr) return read(folder_ / text("file"));
    std::string source = read(solutions() / text("file"));
    for (const toml::node& node : *edits) {
      const toml::table& edit = *node.as_table();
      source = replaced_once(std::move(source), edit["find"].value<std::string>().value(),
                             edit["replace"].value<std::string>().value());
    }
    return source;
  }

  static std::vector<std::string> codes_of(const nlohmann::json& task) {
    std::vector<std::string> codes;
    for (const auto& diagnostic : task.at("diagnostics")) codes.push_back(diagnostic.at("code"));
    return codes;
  }

  fs::path folder_;
  fs::path part_;
  toml::table table_;
};

void register_mistakes() {
  for (const fs::path& part : parts()) {
    if (!fs::exists(part / "mistakes")) continue;
    std::string suite = part.filename().string();
    std::ranges::replace(suite, '-', '_');  // in a filter, "-" begins what is left out
    for (const auto& entry : fs::directory_iterator(part / "mistakes")) {
      if (!fs::exists(entry.path() / "mistake.toml")) continue;
      testing::RegisterTest(suite.c_str(), entry.path().filename().c_str(), nullptr, nullptr,
                            __FILE__, __LINE__,
                            [folder = entry.path()] { return new MistakeTest(folder); });
    }
  }
}

}  // namespace
}  // namespace rooflab

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  rooflab::register_mistakes();
  const int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return failed;
  std::cerr << "no planted mistake has this name\n";  // a filter that matches nothing must not pass
  return 1;
}
