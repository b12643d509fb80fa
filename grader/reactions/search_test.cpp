#include "grader/reactions/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "grader/contract/elements.h"
#include "grader/reactions/changed_values.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

using Numbers = std::vector<double>;
/// The output of a problem's inputs, in their order, and its real parameter.
using Function = std::function<Numbers(const std::vector<Numbers>& inputs, double scale)>;

constexpr std::int64_t kRows = 5, kDepth = 12, kColumns = 9;

Numbers numbers_of(const Tensor& tensor) {
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
    numbers.push_back(element_at(tensor.type, tensor.data, i));
  }
  return numbers;
}

/// y = scale * a * b + bias, with sizes that differ.
class MatrixOracle : public Oracle {
 public:
  explicit MatrixOracle(Function function) : function_(std::move(function)) {}

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
    std::vector<Numbers> inputs;
    for (const Tensor& tensor : problem.tensors) {
      if (tensor.role != Role::output) inputs.push_back(numbers_of(tensor));
    }
    const double scale = std::get<double>(problem.parameters.at("scale"));
    Expected y{"y", function_(inputs, scale), {}, {}};
    y.tolerance.assign(y.value.size(), 1e-4);
    return {y};
  }

 private:
  Function function_;
};

/// What a formula makes of each element.
Numbers each(const std::function<double(std::int64_t row, std::int64_t column)>& element) {
  Numbers y;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i)
    y.push_back(element(i / kColumns, i % kColumns));
  return y;
}

Numbers right(const std::vector<Numbers>& in, double scale) {
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
std::optional<FoundCause> cause_of(const Function& function, const AxisNames& axes = {}) {
  const MatrixOracle oracle(right);
  const MatrixOracle wrong(function);
  const Values parameters{{"scale", 0.5}};
  const CallAll call = [&](const std::vector<Problem>& problems) {
    std::vector<Outputs> all;
    for (const Problem& problem : problems) {
      Outputs outputs;
      for (const Tensor& tensor : problem.tensors) outputs.push_back(tensor.data);
      outputs.back().resize(problem.tensors.back().bytes());
      const Numbers y = wrong.expect(problem).front().value;
      for (std::size_t i = 0; i < y.size(); ++i) {
        put_element(ElementType::float32, outputs.back(), i, y[i]);
      }
      all.push_back(std::move(outputs));
    }
    return all;
  };
  return find_cause(
      {.oracle = oracle,
       .axes = axes,
       .draw =
           [&](int draw) { return oracle.make(parameters, static_cast<std::uint64_t>(draw) + 1); },
       .call = call,
       .compare =
           [&](const Problem& problem, const Outputs& outputs) {
             return compare(problem, oracle.expect(problem).front(), outputs);
           }});
}

/// y with another sum over k. @param term of row, column and k
Function with_terms(const std::function<double(const std::vector<Numbers>&, std::int64_t,
                                               std::int64_t, std::int64_t)>& term) {
  return [term](const std::vector<Numbers>& in, double scale) {
    return each([&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < kDepth; ++k) sum += term(in, i, j, k);
      return scale * sum + in[2][j];
    });
  };
}

double product(const std::vector<Numbers>& in, std::int64_t i, std::int64_t j, std::int64_t k) {
  return in[0].at(static_cast<std::size_t>(i * kDepth + k)) *
         in[1].at(static_cast<std::size_t>(k * kColumns + j));
}

TEST(FindCauseTest, SaysNothingOfARightSubmission) { EXPECT_FALSE(cause_of(right)); }

TEST(FindCauseTest, NamesAnInputThatHasNoEffect) {
  const auto cause = cause_of([](std::vector<Numbers> in, double scale) {
    in[2].assign(kColumns, 0);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code.text(), "RL0550");
  EXPECT_EQ(cause->message, "bias has no effect: the result is what zeros in bias give");
}

TEST(FindCauseTest, NamesInputsThatAreInEachOthersPlace) {
  const auto cause = cause_of([](std::vector<Numbers> in, double scale) {
    std::swap(in[2], in[3]);
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_THAT(cause->message, HasSubstr("bias and spare are in each other's place"));
}

TEST(FindCauseTest, NamesTheOtherValueOfAParameter) {
  const auto cause = cause_of(
      [](const std::vector<Numbers>& in, double scale) { return right(in, scale * scale); });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "scale goes in squared: 0.25 for 0.5");
}

TEST(FindCauseTest, NamesAMatrixThatIsReadColumnByColumn) {
  const auto cause = cause_of([](std::vector<Numbers> in, double scale) {
    Numbers turned(in[1].size());
    for (std::int64_t k = 0; k < kDepth; ++k) {
      for (std::int64_t j = 0; j < kColumns; ++j) turned[k * kColumns + j] = in[1][j * kDepth + k];
    }
    in[1] = turned;
    return right(in, scale);
  });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "b is read as if its rows lay within its columns");
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
  const auto cause = cause_of([](const std::vector<Numbers>& in, double scale) {
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
  const auto cause = cause_of([](const std::vector<Numbers>& in, double scale) {
    Numbers y = right(in, scale);
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

TEST(FindCauseTest, SaysNothingOfTwoMistakesAtOnce) {
  const auto cause = cause_of([](const std::vector<Numbers>& in, double scale) {
    Numbers y = with_terms([](const auto& in, auto i, auto j, auto k) {
      return k == 3 ? 0 : product(in, i, j, k);
    })(in, scale);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += i % 2 == 0 ? in[3][0] : in[3][1] * in[2][0];
    return y;
  });
  EXPECT_FALSE(cause);
}

TEST(FindCauseTest, SaysNothingOfAConstantThatIsAdded) {
  EXPECT_FALSE(cause_of([](const std::vector<Numbers>& in, double scale) {
    Numbers y = right(in, scale);
    for (double& value : y) value += 0.75;
    return y;
  }));
}

}  // namespace
}  // namespace rooflab
