#include "grader/batch/review_words.h"

#include <algorithm>

#include "grader/batch/store/review_store.h"

namespace rooflab {
namespace {

constexpr std::uint32_t kContext = 2;

/// A line with those around it; none where the file does not have it.
std::map<std::uint32_t, std::string> excerpt_of(const std::string& text, std::uint32_t line) {
  std::map<std::uint32_t, std::string> excerpt;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text.size() && number < line + kContext;) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (++number + kContext >= line) excerpt[number] = text.substr(begin, end - begin);
    begin = end + 1;
  }
  if (!excerpt.contains(line)) excerpt.clear();
  return excerpt;
}

}  // namespace

std::map<std::string, std::vector<FileComment>> comments_of_review(Store& store,
                                                                   const Course& course) {
  std::map<std::string, std::vector<FileComment>> of_student;
  std::map<std::string, SourceFiles> sources;
  for (const ReviewComment& comment : ReviewStore(store).comments()) {
    if (std::ranges::find(course.parts, comment.part, &PartSpec::number) == course.parts.end()) {
      continue;
    }
    FileComment one{.part = comment.part,
                    .file = comment.path,
                    .line = comment.line,
                    .excerpt = {},
                    .text = comment.text,
                    .by = comment.by};
    if (comment.line > 0) {
      const auto [source, is_new] = sources.try_emplace(comment.source);
      if (is_new) source->second = store.source(comment.source);
      const auto file = source->second.find(comment.path);
      if (file != source->second.end()) one.excerpt = excerpt_of(file->second, comment.line);
    }
    for (const std::string& student : comment.students) of_student[student].push_back(one);
  }
  return of_student;
}

}  // namespace rooflab
