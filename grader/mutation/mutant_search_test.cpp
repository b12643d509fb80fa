#include "grader/mutation/mutant_search.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/mutation/mutant_words.h"

namespace rooflab::mutation {
namespace {

/// A file whose result is off by what a function says of a variant.
struct PretendFile {
  std::vector<Mutant> mutants;
  std::function<double(const Variant&, std::int64_t size)> error;
  /// Of each launch.
  std::function<std::uint64_t(const Variant&)> blocks = [](const Variant&) { return 1; };
  std::function<bool(const Variant&)> is_sound = [](const Variant&) { return true; };

  SearchTools tools() const {
    SearchTools tools;
    tools.candidates = {{{"size", std::int64_t{2}}}, {{"size", std::int64_t{8}}}};
    tools.cases = {{{"size", std::int64_t{8}}}};
    tools.call = [this](const std::vector<Trial>& trials) {
      std::vector<Tried> tried;
      for (const auto& [parameters, draw, variant] : trials) {
        const std::int64_t size = std::get<std::int64_t>(parameters.at("size"));
        const double off = error(variant, size) * (1 + draw);
        const bool is_right = std::abs(off) < 1e-6;
        const auto wrong = static_cast<std::uint64_t>(std::ceil(std::abs(off)));
        tried.push_back({.is_sound = is_sound(variant),
                         .wrong = is_right ? 0 : wrong,
                         .error = off,
                         .most_blocks = blocks(variant),
                         .work = static_cast<double>(size)});
      }
      return tried;
    };
    tools.value_of = [](const std::string&) { return 1.0; };
    return tools;
  }
};

Mutant mutant(int number, MutantKind kind, std::uint32_t line) {
  return {.number = number, .kind = kind, .line = line, .column = 1, .before = "<", .after = "<="};
}

/// What is told of the mutants that make a file right.
/// @param cases of the group, of which the file tells one
OperationWords words_about(const PretendFile& file, std::size_t cases = 1) {
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  return words_of(result, best_of(result), cases);
}

TEST(MutantSearch, FindsTheOneThatIsRight) {
  const PretendFile file{
      {mutant(1, MutantKind::left_out, 3), mutant(2, MutantKind::comparison, 5)},
      [](const Variant& variant, std::int64_t) { return variant.first == 2 ? 0 : 7; }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_EQ(result.right.front().mutants.front().line, 5u);
  EXPECT_EQ(std::get<std::int64_t>(result.parameters.at("size")), 2);
}

TEST(MutantSearch, WhatIsRightForASmallProblemAloneIsNone) {
  const PretendFile file{{mutant(1, MutantKind::comparison, 3)},
                         [](const Variant& variant, std::int64_t size) {
                           return variant.first == 1 && size == 2 ? 0 : 7;
                         }};
  EXPECT_TRUE(find_right_mutants(file.mutants, file.tools()).right.empty());
}

TEST(MutantSearch, ASmallProblemThatIsRightIsPassedOver) {
  const PretendFile file{{mutant(1, MutantKind::comparison, 3)},
                         [](const Variant& variant, std::int64_t size) {
                           return variant.first == 1 || size == 2 ? 0 : 7;
                         }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  EXPECT_EQ(result.right.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(result.parameters.at("size")), 8);
}

TEST(MutantSearch, FindsTheValueOfANumber) {
  PretendFile file{{{.number = 1,
                     .kind = MutantKind::number,
                     .line = 4,
                     .column = 1,
                     .before = "1.0f",
                     .after = "",
                     .is_any_value = true}},
                   [](const Variant& variant, std::int64_t) {
                     const double x = variant.first == 1 ? variant.value : 1.0;
                     return 3 * (x * x - 0.5);
                   }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_NEAR(result.right.front().value, std::sqrt(0.5), 1e-6);
}

TEST(MutantSearch, FindsANumberInPlaceOfItsReciprocalThoughTheErrorTellsNoWay) {
  PretendFile file{{{.number = 1,
                     .kind = MutantKind::number,
                     .line = 4,
                     .column = 1,
                     .before = "1.2533f",
                     .after = "",
                     .is_any_value = true}},
                   [](const Variant& variant, std::int64_t) {
                     const double x = variant.first == 1 ? variant.value : 1.2533;
                     return std::abs(x - 1 / 1.2533) < 1e-6 ? 0 : 3;
                   }};
  SearchTools tools = file.tools();
  tools.value_of = [](const std::string&) { return 1.2533; };
  const SearchResult result = find_right_mutants(file.mutants, tools);
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_NEAR(result.right.front().value, 1 / 1.2533, 1e-6);
}

TEST(MutantSearch, FindsTwoMistakesOfWhichEachMakesSomeOfItWrong) {
  std::vector<Mutant> mutants;
  for (int i = 1; i <= 5; ++i) mutants.push_back(mutant(i, MutantKind::comparison, 10u + i));
  const PretendFile file{mutants, [](const Variant& variant, std::int64_t) {
                           const auto has = [&](int n) {
                             return variant.first == n || variant.second == n;
                           };
                           return (has(2) ? 0 : 40) + (has(4) ? 0 : 3);
                         }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_FALSE(result.right.empty());
  EXPECT_EQ(result.right.front().mutants.size(), 2u);
  const OperationWords words = words_of(result, best_of(result), 1);
  EXPECT_THAT(words.message, ::testing::HasSubstr("lines 12 and 14"));
}

TEST(MutantSearch, FindsTheSameSlipAtTwoPlacesOfALine) {
  PretendFile file{{mutant(1, MutantKind::comparison, 3), mutant(17, MutantKind::comparison, 3),
                    mutant(33, MutantKind::comparison, 4)},
                   [](const Variant&, std::int64_t) { return 0; }};
  file.is_sound = [](const Variant& variant) { return variant.first == 1 && variant.second == 17; };
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_EQ(result.right.front().mutants.size(), 2u);
  EXPECT_EQ(words_of(result, best_of(result), 1).message,
            "with `<=` in place of both `<`, nothing goes wrong");
}

TEST(MutantSearch, FindsTheMistakeBehindOneThatEndsTheCall) {
  std::vector<Mutant> mutants;
  for (int i = 1; i <= 5; ++i) mutants.push_back(mutant(i, MutantKind::comparison, 10u + i));
  const auto has = [](const Variant& variant, int n) {
    return variant.first == n || variant.second == n;
  };
  PretendFile file{mutants,
                   [&](const Variant& variant, std::int64_t) { return has(variant, 4) ? 0 : 7; }};
  file.is_sound = [&](const Variant& variant) { return has(variant, 2); };
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_FALSE(result.right.empty());
  EXPECT_EQ(result.right.front().mutants.size(), 2u);
}

TEST(MutantSearch, TakesASmallerProblemWhereAllMutantsWouldTakeTooMuchWork) {
  const PretendFile file{
      {mutant(1, MutantKind::comparison, 3)},
      [](const Variant& variant, std::int64_t) { return variant.first == 1 ? 0 : 7; }};
  SearchTools tools = file.tools();
  tools.candidates = {{{"size", std::int64_t{64}}}};
  tools.smaller = [](const Values& parameters) -> std::vector<Values> {
    const std::int64_t size = std::get<std::int64_t>(parameters.at("size"));
    return {{{"size", size / 2}}};
  };
  tools.most_work = 100;
  const SearchResult result = find_right_mutants(file.mutants, tools);
  EXPECT_EQ(std::get<std::int64_t>(result.parameters.at("size")), 8);
  EXPECT_EQ(result.right.size(), 1u);
}

TEST(MutantSearch, TakesASmallerProblemWhereTheFileEndsEarly) {
  PretendFile file{{mutant(1, MutantKind::comparison, 3)},
                   [](const Variant&, std::int64_t) { return 0; }};
  file.is_sound = [](const Variant& variant) { return variant.first == 1; };
  SearchTools tools = file.tools();
  tools.candidates = {{{"size", std::int64_t{64}}}};
  tools.smaller = [](const Values& parameters) -> std::vector<Values> {
    const std::int64_t size = std::get<std::int64_t>(parameters.at("size"));
    return {{{"size", std::max<std::int64_t>(size / 2, 4)}}};
  };
  const SearchResult result = find_right_mutants(file.mutants, tools);
  EXPECT_EQ(std::get<std::int64_t>(result.parameters.at("size")), 4)
      << "what it does until then says nothing of what a right one does";
  EXPECT_EQ(result.right.size(), 1u);
}

TEST(MutantSearch, MakesTheSameChangeInTwoLinesSideBySide) {
  PretendFile file{{mutant(1, MutantKind::name, 3), mutant(17, MutantKind::name, 4)},
                   [](const Variant& variant, std::int64_t) {
                     return variant.first == 1 && variant.second == 17 ? 0 : 7;
                   }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_EQ(words_of(result, best_of(result), 1).message,
            "with `<=` in place of `<` in lines 3 and 4, all results are right");
}

/// Of two groups: sizes below 10 fail, and all others are right.
PretendFile file_with_groups(std::vector<Mutant> mutants,
                             std::function<bool(const Variant&, std::int64_t size)> is_right) {
  return {std::move(mutants), [is_right](const Variant& variant, std::int64_t size) {
            if (variant.first == 0) return size < 10 ? 7 : 0;
            return is_right(variant, size) ? 0 : 7;
          }};
}

SearchResult find_with_others(const PretendFile& file) {
  SearchTools tools = file.tools();
  tools.others = {{{"size", std::int64_t{16}}}, {{"size", std::int64_t{32}}}};
  return find_right_mutants(file.mutants, tools);
}

TEST(MutantSearch, WhatBreaksCasesOfOtherGroupsIsNotTheMistakeWhereAnotherBreaksNone) {
  const PretendFile file = file_with_groups(
      {mutant(1, MutantKind::comparison, 3), mutant(2, MutantKind::left_out, 5)},
      [](const Variant& variant, std::int64_t size) { return variant.first == 2 || size < 10; });
  const SearchResult result = find_with_others(file);
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_EQ(result.right.front().mutants.front().line, 5u);
  EXPECT_FALSE(result.right.front().breaks_others);
}

TEST(MutantSearch, WhereAllBreakCasesOfOtherGroupsThatIsSaid) {
  const PretendFile file =
      file_with_groups({mutant(1, MutantKind::comparison, 3)},
                       [](const Variant&, std::int64_t size) { return size < 10; });
  const SearchResult result = find_with_others(file);
  EXPECT_EQ(words_of(result, best_of(result), 1).message,
            "with `<=` in place of `<`, these cases are right, and others would be wrong");
}

TEST(MutantSearch, ANumberThatWasMadeForSomeCasesHidesNoOtherMutant) {
  const PretendFile file =
      file_with_groups({mutant(1, MutantKind::number, 3), mutant(2, MutantKind::name, 5)},
                       [](const Variant& variant, std::int64_t size) {
                         return size < 10 || (variant.first == 1 && size == 16);
                       });
  const SearchResult result = find_with_others(file);
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_EQ(result.right.front().mutants.front().line, 5u);
}

TEST(MutantSearch, CasesThatThereIsNoTimeForAreNotClaimed) {
  const PretendFile file{
      {mutant(1, MutantKind::comparison, 3)},
      [](const Variant& variant, std::int64_t) { return variant.first == 1 ? 0 : 7; }};
  SearchTools tools = file.tools();
  tools.cases = {{{"size", std::int64_t{8}}}, {{"size", std::int64_t{64}}}};
  tools.call = [inner = tools.call](const std::vector<Trial>& trials) {
    std::vector<Tried> tried = inner(trials);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (std::get<std::int64_t>(trials[i].parameters.at("size")) == 64) tried.resize(i);
    }
    return tried;
  };
  const SearchResult result = find_right_mutants(file.mutants, tools);
  ASSERT_EQ(result.right.size(), 1u);
  EXPECT_THAT(words_of(result, best_of(result), 2).evidence.front(),
              ::testing::HasSubstr("in 1 of the 2 cases of its group"));
}

TEST(MutantSearch, OneThatIsRightForASmallProblemAloneMakesNoPair) {
  const PretendFile file{{mutant(1, MutantKind::comparison, 3), mutant(2, MutantKind::name, 5)},
                         [](const Variant& variant, std::int64_t size) {
                           const bool is_pair = variant.first == 1 && variant.second == 2;
                           return is_pair || (variant.first == 1 && size == 2) ? 0 : 7;
                         }};
  EXPECT_TRUE(find_right_mutants(file.mutants, file.tools()).right.empty());
}

TEST(MutantSearch, ManyPlacesAreNoCause) {
  std::vector<Mutant> mutants;
  for (int i = 1; i <= 9; ++i) mutants.push_back(mutant(i, MutantKind::comparison, 10u + i));
  const PretendFile file{
      mutants, [](const Variant& variant, std::int64_t) { return variant.first != 0 ? 0 : 7; }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  EXPECT_EQ(result.right.size(), 9u);
  EXPECT_TRUE(best_of(result).empty());
}

TEST(MutantWords, NameTheOperationAndWhatWouldBeRight) {
  const PretendFile file{
      {mutant(1, MutantKind::comparison, 3)},
      [](const Variant& variant, std::int64_t) { return variant.first == 1 ? 0 : 7; }};
  const OperationWords words = words_about(file);
  EXPECT_EQ(words.message, "the comparison `<` makes it wrong: with `<=` all results are right");
  EXPECT_EQ(words.line, 3u);
}

TEST(MutantWords, ClaimNothingWhereCasesTakeTooLongToBeTried) {
  const PretendFile file{
      {mutant(1, MutantKind::comparison, 3)},
      [](const Variant& variant, std::int64_t) { return variant.first == 1 ? 0 : 7; }};
  const OperationWords words = words_about(file, 5);
  EXPECT_EQ(words.message, "with `<=` in place of `<`, all results are right");
  EXPECT_THAT(words.evidence.front(), ::testing::HasSubstr("of the 5 cases of its group"));
}

/// A file that is right with the only mutant that it has.
OperationWords words_for(const Mutant& mutant) {
  const PretendFile file{{mutant}, [&](const Variant& variant, std::int64_t) {
                           return variant.first == mutant.number ? 0 : 7;
                         }};
  return words_about(file);
}

TEST(MutantWords, OfANumberTellWhatMakesItRightAndNotThatItIsTheMistake) {
  const OperationWords words = words_for(
      {.number = 1, .kind = MutantKind::number, .line = 3, .before = "SIDE", .after = "SIDE + 1"});
  EXPECT_EQ(words.message, "with `SIDE + 1` in place of `SIDE`, all results are right");
  EXPECT_THAT(words.help, ::testing::HasSubstr("or in something that has to agree"));
}

TEST(MutantWords, OfAComparisonTurnedAroundClaimNothing) {
  const OperationWords words = words_for(
      {.number = 1, .kind = MutantKind::comparison, .line = 3, .before = "<", .after = ">"});
  EXPECT_EQ(words.message, "with `>` in place of `<`, all results are right");
}

TEST(MutantWords, OfTheRightSideOfAnOperatorSayWhatIsLeftOut) {
  const OperationWords words = words_for({.number = 1,
                                          .kind = MutantKind::arithmetic,
                                          .line = 3,
                                          .before = "*",
                                          .after = "the left side alone"});
  EXPECT_EQ(words.message, "without the `*` and what is right of it, all results are right");
}

TEST(MutantWords, WhereSeveralLinesWouldDoNoneOfThemIsClaimed) {
  const PretendFile file{
      {mutant(1, MutantKind::comparison, 3), mutant(2, MutantKind::comparison, 5)},
      [](const Variant& variant, std::int64_t) { return variant.first != 0 ? 0 : 7; }};
  const OperationWords words = words_about(file);
  EXPECT_EQ(words.message, "with `<=` in place of `<`, all results are right");
  EXPECT_EQ(words.evidence.back(), "a change in line 5 does the same: with `<=` in place of `<`");
}

TEST(MutantWords, OfANumberThatLeavesOneBlockTellJustThat) {
  const PretendFile file{
      {mutant(1, MutantKind::number, 3)},
      [](const Variant& variant, std::int64_t) { return variant.first == 1 ? 0 : 7; },
      [](const Variant& variant) { return variant.first == 1 ? 1 : 8; }};
  const OperationWords words = words_about(file);
  EXPECT_THAT(words.message, ::testing::StartsWith("with one block all results are right"));
  EXPECT_THAT(words.label, ::testing::HasSubstr("one block is left"));
}

TEST(MutantWords, WhatLeavesOneBlockIsToldOnlyIfNothingElseIsRight) {
  const PretendFile file{
      {mutant(1, MutantKind::number, 3), mutant(2, MutantKind::left_out, 5)},
      [](const Variant& variant, std::int64_t) { return variant.first != 0 ? 0 : 7; },
      [](const Variant& variant) { return variant.first == 1 ? 1 : 8; }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  const std::vector<RightMutant> best = best_of(result);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best.front().mutants.front().line, 5u);
}

TEST(MutantWords, WhatLaunchesMoreBlocksIsToldLast) {
  const PretendFile file{
      {mutant(1, MutantKind::number, 3), mutant(2, MutantKind::left_out, 5)},
      [](const Variant& variant, std::int64_t) { return variant.first != 0 ? 0 : 7; },
      [](const Variant& variant) { return variant.first == 1 ? 32 : 8; }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  const std::vector<RightMutant> best = best_of(result);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best.front().mutants.front().line, 5u);
}

TEST(MutantWords, OfAnAccessComeFromTheLineThatIsClosestToIt) {
  const PretendFile file{
      {mutant(1, MutantKind::number, 3), mutant(2, MutantKind::left_out, 5)},
      [](const Variant& variant, std::int64_t) { return variant.first != 0 ? 0 : 7; }};
  const SearchResult result = find_right_mutants(file.mutants, file.tools());
  EXPECT_EQ(words_of(result, best_of(result), 1).line, 3u);
  EXPECT_EQ(words_of(result, best_of(result, {{5, 0}, {3, 1}}), 1).line, 5u);
  EXPECT_EQ(words_of(result, best_of(result, {{9, 0}}), 1).line, 3u);
}

TEST(MutantWords, OfADivisorThatIsRightSinceItsQuotientIsZeroTellTheZero) {
  const PretendFile file{{{.number = 1,
                           .kind = MutantKind::scale,
                           .line = 3,
                           .before = "lane",
                           .after = "/ length",
                           .vanished = 15}},
                         [](const Variant& variant, std::int64_t) {
                           return variant.first == 1 || variant.first == 15 ? 0 : 7;
                         }};
  const OperationWords words = words_about(file);
  EXPECT_EQ(words.message, "where `lane` is 0, all results are right");
}

TEST(MutantWords, OfADivisorThatIsRightForItsValueTellTheDivisor) {
  const OperationWords words = words_for({.number = 1,
                                          .kind = MutantKind::scale,
                                          .line = 3,
                                          .before = "sum",
                                          .after = "/ length",
                                          .vanished = 15});
  EXPECT_EQ(words.message, "with `/ length` behind `sum`, all results are right");
}

}  // namespace
}  // namespace rooflab::mutation
