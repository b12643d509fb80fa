#include "grader/reactions/cause_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "grader/contract/elements.h"
#include "grader/reactions/changed_values.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

using Reals = std::vector<double>;
/// The output of a problem's inputs, in their order, and its real parameter.
using Submission = std::function<Reals(const std::vector<Reals>& inputs, double scale)>;

constexpr std::int64_t kRows = 5, kDepth = 12, kColumns = 9;

Reals reals_of(const Tensor& tensor) {
  Reals reals;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
    reals.push_back(element_at(tensor.type, tensor.data, i));
  }
  return reals;
}

/// y = scale * a * b + bias, with sizes that differ.
class MatrixOracle : public Oracle {
 public:
  explicit MatrixOracle(Submission function) : function_(std::move(function)) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    std::mt19937_64 random(seed);
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, Role role) {
      Tensor tensor{.name = name, .role = role, .shape = std::move(shape), .data = {}};
      if (role != Role::output) {
        tensor.data.resize(tensor.bytes());
        change_elements(tensor, [&](std::size_t, double) {
          return std::uniform_real_distribution<double>(0.25, 1)(random) *
                 (random() % 2 == 0 ? 1 : -1);
        });
      }
      problem.tensors.push_back(std::move(tensor));
    };
    add("a", {kRows, kDepth}, Role::input);
    add("b", {kDepth, kColumns}, Role::input);
    add("bias", {kColumns}, Role::input);
    add("spare", {kColumns}, Role::input);
    add("y", {kRows, kColumns}, Role::output);
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    std::vector<Reals> inputs;
    for (const Tensor& tensor : problem.tensors) {
      if (tensor.role != Role::output) inputs.push_back(reals_of(tensor));
    }
    const double scale = std::get<double>(problem.parameters.at("scale"));
    Expected y{"y", function_(inputs, scale), {}, {}};
    y.tolerance.assign(y.value.size(), 1e-4);
    return {y};
  }

 private:
  Submission function_;
};

/// What a formula makes of each element.
Reals each(const std::function<double(std::int64_t row, std::int64_t column)>& element) {
  Reals y;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i)
    y.push_back(element(i / kColumns, i % kColumns));
  return y;
}

Reals right(const std::vector<Reals>& in, double scale) {
  return each([&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < kDepth; ++k)
      sum += in[0][i * kDepth + k] * in[1][k * kColumns + j];
    return scale * sum + in[2][j];
  });
}

std::vector<TensorCheck> compare(const Problem& problem, const Expected& expected,
                                 const Outputs& outputs) {
  TensorCheck check;
  check.tensor = "y";
  check.shape = problem.tensors.back().shape;
  check.expected = expected.value;
  check.tolerance = expected.tolerance;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    check.got.push_back(element_at(ElementType::float32, outputs.back(), i));
    check.wrong.push_back(!is_within_tolerance(check.got[i], check.expected[i], 1e-4));
    check.wrong_count += check.wrong[i] ? 1 : 0;
  }
  check.unwritten.assign(check.wrong.size(), false);
  return check.wrong_count == 0 ? std::vector<TensorCheck>{} : std::vector{check};
}

/// A submission that computes `function` in place of right().
/// @param warp_instructions that a call of it takes
/// @param most_calls in one process: what they were
std::optional<FoundCause> cause_of(const Submission& function, const AxisNames& axes,
                                   std::uint64_t warp_instructions, std::size_t& most_calls) {
  const MatrixOracle oracle(right);
  const std::vector<Values> candidates{{{"scale", 0.5}}, {{"scale", 2.0}}};
  const CallAll call = [&](std::size_t count, const std::function<Problem(std::size_t)>& posed) {
    const MatrixOracle wrong(function);  // a process of its own, with what the function keeps
    Called called{.outputs = {}, .warp_instructions = warp_instructions};
    for (std::size_t p = 0; p < count; ++p) {
      const Problem problem = posed(p);
      Outputs outputs;
      for (const Tensor& tensor : problem.tensors) outputs.push_back(tensor.data);
      outputs.back().resize(problem.tensors.back().bytes());
      const Reals y = wrong.expect(problem).front().value;
      for (std::size_t i = 0; i < y.size(); ++i) {
        put_element(ElementType::float32, outputs.back(), i, y[i]);
      }
      called.outputs.push_back(std::move(outputs));
    }
    most_calls = std::max(most_calls, count);
    return called;
  };
  return search_cause({.oracle = oracle,
                       .axes = axes,
                       .candidates = candidates,
                       .cases = {candidates[0], candidates[1], {{"scale", 1.0}}},
                       .draw =
                           [&](const Values& drawn, int draw) {
                             return oracle.make(drawn, static_cast<std::uint64_t>(draw) + 1);
                           },
                       .call = call,
                       .compare =
                           [](const Problem& problem, const std::vector<Expected>& expected,
                              const Outputs& outputs) {
                             return compare(problem, expected.front(), outputs);
                           }})
      .cause;
}

std::optional<FoundCause> cause_of(const Submission& function, const AxisNames& axes = {}) {
  std::size_t most_calls = 0;
  return cause_of(function, axes, 0, most_calls);
}

/// y with another sum over k. @param term of row, column and k
Submission with_terms(const std::function<double(const std::vector<Reals>&, std::int64_t,
                                                 std::int64_t, std::int64_t)>& term) {
  return [term](const std::vector<Reals>& in, double scale) {
    return each([&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < kDepth; ++k) sum += term(in, i, j, k);
      return scale * sum + in[2][j];
    });
  };
}

double product(const std::vector<Reals>& in, std::int64_t i, std::int64_t j, std::int64_t k) {
  return in[0].at(static_cast<std::size_t>(i * kDepth + k)) *
         in[1].at(static_cast<std::size_t>(k * kColumns + j));
}

TEST(FindCauseTest, SaysNothingOfARightSubmission) { EXPECT_FALSE(cause_of(right)); }

TEST(FindCauseTest, NamesAnInputThatHasNoEffect) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    in[2].assign(kColumns, 0);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code.text(), "RL0550");
  EXPECT_EQ(cause->message, "bias has no effect: the result is what zeros in bias give");
}

TEST(FindCauseTest, NamesNoOtherProblemThatARightCaseIsNotTheSolutionOf) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    if (scale != 1.0) std::ranges::transform(in[2], in[2].begin(), [](double x) { return 2 * x; });
    return right(in, scale);
  });
  EXPECT_TRUE(!cause || cause->code.text() != "RL0550") << cause->message;
}

TEST(FindCauseTest, NamesInputsThatAreInEachOthersPlace) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    std::swap(in[2], in[3]);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_THAT(cause->message, HasSubstr("bias and spare are in each other's place"));
}

TEST(FindCauseTest, NamesTheOtherValueOfAParameter) {
  const auto cause =
      cause_of([](const std::vector<Reals>& in, double scale) { return right(in, scale * scale); });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "scale goes in squared: 0.25 for 0.5");
}

TEST(FindCauseTest, NamesAMatrixThatIsReadColumnByColumn) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    Reals turned(in[1].size());
    for (std::int64_t k = 0; k < kDepth; ++k) {
      for (std::int64_t j = 0; j < kColumns; ++j) turned[k * kColumns + j] = in[1][j * kDepth + k];
    }
    in[1] = turned;
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "b is read as if rows lay within columns");
}

TEST(FindCauseTest, NamesWhatIsDoneToTwoInputsAlike) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    for (const std::size_t i : {2U, 3U}) in[i].assign(kColumns, in[i][0]);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "element 0 of bias is read for every element");
}

TEST(FindCauseTest, NamesWhatNeverGoesIn) {
  const auto cause = cause_of(with_terms([](const auto& in, auto i, auto j, auto k) {
    return k == 7 || k == 8 ? 0 : product(in, i, j, k);
  }));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code.text(), "RL0551");
  EXPECT_EQ(cause->message, "columns 7 and 8 of a and rows 7 and 8 of b never go into y[0][0]");
}

TEST(FindCauseTest, UsesTheTasksOwnCoordinates) {
  const auto cause = cause_of(
      with_terms([](const auto& in, auto i, auto j, auto k) {
        return k == 7 || k == 8 ? 0 : product(in, i, j, k);
      }),
      {{"a", {"token", "channel"}}, {"b", {"channel", "feature"}}, {"y", {"token", "feature"}}});
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "channels 7 and 8 of a and b never go into y at token 0, feature 0");
}

TEST(FindCauseTest, NamesWhatGoesInInPlaceOfWhatIsDue) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    return each([&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      const std::int64_t row = i % 3;
      for (std::int64_t k = 0; k < kDepth; ++k) sum += product(in, row, j, k);
      return scale * sum + in[2][j];
    });
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code.text(), "RL0552");
  EXPECT_EQ(cause->message, "row 0 of a goes into y[3][0] in place of row 3");
}

TEST(FindCauseTest, NamesWhatGoesInFurther) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    Reals y = right(in, scale);
    for (std::int64_t j = 0; j + 1 < kColumns; ++j) y[j] += in[2][j + 1];
    return y;
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "element 1 of bias goes into y[0][0], and should not");
}

TEST(FindCauseTest, NamesWhatGoesInTwice) {
  const auto cause = cause_of(with_terms([](const auto& in, auto i, auto j, auto k) {
    return (k == 4 && i > 0 ? 2 : 1) * product(in, i, j, k);
  }));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code.text(), "RL0553");
  EXPECT_THAT(cause->message, HasSubstr("column 4 of a and row 4 of b go into y[1][0] twice"));
}

TEST(FindCauseTest, NamesBothCoordinatesOfAnElementInAnothersPlace) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    const Reals y = right(in, scale);
    return each([&](std::int64_t i, std::int64_t j) {
      return y[((i + 1) % kRows) * kColumns + (j + 2) % kColumns];
    });
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message,
            "row 1 of a and column 2 of b and element 2 of bias go into y[0][0] in place of row 0 "
            "and column 0 and element 0");
}

TEST(FindCauseTest, NamesWhatIsSkippedBySteps) {
  const auto cause = cause_of(with_terms([](const auto& in, auto i, auto j, auto k) {
    return k % 3 == 1 ? 0 : product(in, i, j, k);
  }));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message,
            "columns 1, 4, 7, … 10 of a and rows 1, 4, 7, … 10 of b never go into y[0][0]");
}

TEST(FindCauseTest, SaysThatOnlyTheFormulaIsWrong) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    Reals y = right(in, scale);
    for (double& value : y) value = value * value * value + value;
    return y;
  });
  ASSERT_TRUE(cause);
  EXPECT_TRUE(cause->is_looks);
  EXPECT_THAT(cause->evidence.front(), HasSubstr("the indices are right"));
}

TEST(FindCauseTest, NamesNoOtherProblemThatExplainsOnlyASmallOne) {
  const auto cause = cause_of([](std::vector<Reals> in, double scale) {
    if (scale < 1) in[2].assign(kColumns, 0);
    if (scale > 1) in[2].assign(kColumns, in[3][0]);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_NE(cause->code.text(), "RL0550") << cause->message;
}

TEST(FindCauseTest, CallsASlowSubmissionSeldom) {
  const Submission wrong = with_terms(
      [](const auto& in, auto i, auto j, auto k) { return k == 7 ? 0 : product(in, i, j, k); });
  constexpr std::uint64_t kAHundredth = 200'000;  // of what all calls together may take
  std::size_t most_calls = 0;
  EXPECT_TRUE(cause_of(wrong, {}, kAHundredth, most_calls));
  EXPECT_LE(most_calls, 100U);
  std::size_t most_of_slower = 0;
  EXPECT_FALSE(cause_of(wrong, {}, 1'000 * kAHundredth, most_of_slower));
  EXPECT_EQ(most_of_slower, 1U);
}

TEST(FindCauseTest, SaysNothingOfTwoMistakesAtOnce) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    Reals y = with_terms([](const auto& in, auto i, auto j, auto k) {
      return k == 3 ? 0 : product(in, i, j, k);
    })(in, scale);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += i % 2 == 0 ? in[3][0] : in[3][1] * in[2][0];
    return y;
  });
  EXPECT_FALSE(cause);
}

TEST(FindCauseTest, NamesNoCauseOfAConstantThatIsAdded) {
  const auto cause = cause_of([](const std::vector<Reals>& in, double scale) {
    Reals y = right(in, scale);
    for (double& value : y) value += 0.75;
    return y;
  });
  EXPECT_TRUE(!cause || cause->is_looks);
}

TEST(FindCauseTest, SaysNothingOfASubmissionThatKeepsResults) {
  EXPECT_FALSE(cause_of([kept = Reals()](const std::vector<Reals>& in, double scale) mutable {
    if (kept.empty()) kept = right(in, 3 * scale + 0.1);
    return kept;
  }));
}

}  // namespace
}  // namespace rooflab
