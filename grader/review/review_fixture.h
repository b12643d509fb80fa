#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "grader/batch/class_fixture.h"
#include "grader/review/review_app.h"

namespace rooflab {

/// A graded class with the pages of its review, as one or two assistants use them.
class ReviewFixture : public ClassFixture {
 protected:
  /// Grades what was handed in so far, and opens the review.
  void grade() {
    run();
    ada_ = make("Ada");
    bob_ = make("Bob");
  }

  std::unique_ptr<ReviewApp> make(const std::string& by) {
    const auto write_outputs = [this] {
      BatchRequest request;
      request.out = out();
      request.resume = true;
      Batch batch(request);
      QuietListener listener;
      batch.write_outputs(course_, work(), listener);
      return listener.lines;
    };
    return std::make_unique<ReviewApp>(ReviewSettings{.database = out() / "batch.sqlite",
                                                      .starter = folder_.path() / "starter",
                                                      .by = by,
                                                      .write_outputs = write_outputs,
                                                      .now = [] { return std::int64_t{1000}; }},
                                       course_);
  }

  static ReviewResponse get(ReviewApp& app, const std::string& page,
                            const ReviewFields& query = {}) {
    return app.answer({.page = page, .query = query}, "form-token");
  }
  static ReviewResponse post(ReviewApp& app, const std::string& page, const ReviewFields& form) {
    return app.answer({.writes = true, .page = page, .form = form}, "form-token");
  }

  /// The value of the last hidden field of that name in a page.
  static std::string field(const std::string& html, const std::string& name) {
    const std::string mark = "name=\"" + name + "\" value=\"";
    const std::size_t at = html.rfind(mark);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + mark.size();
    return html.substr(begin, html.find('"', begin) - begin);
  }

  /// The id of the first team that a page leads to.
  static std::string team_of_link(const std::string& html) {
    const std::string mark = "submission?student=";
    const std::size_t at = html.find(mark);
    return at == std::string::npos ? std::string() : html.substr(at + mark.size(), 20);
  }

  /// The id of the team in that row of the class, from 0.
  static std::string team(ReviewApp& app, int row = 0) {
    const std::string html = get(app, "").body;
    std::size_t at = 0;
    const std::string mark = "submission?student=";
    for (int i = 0; i <= row; ++i) at = html.find(mark, at) + mark.size();
    return html.substr(at, 20);
  }
  static ReviewFields of(const std::string& team) { return {{"student", team}, {"part", "1"}}; }
  static ReviewFields with(ReviewFields fields, const ReviewFields& more) {
    fields.insert(more.begin(), more.end());
    return fields;
  }
  static std::string submission(ReviewApp& app, int row = 0) {
    return get(app, "submission", of(team(app, row))).body;
  }

  std::unique_ptr<ReviewApp> ada_, bob_;
};

}  // namespace rooflab
