#include "grader/reactions/term_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "grader/reactions/terms.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Function = std::function<Values(const Values&)>;

std::int64_t int_of(const Values& values, const std::string& name) {
  return std::get<std::int64_t>(values.at(name));
}
double real_of(const Values& values, const std::string& name) {
  return std::get<double>(values.at(name));
}

/// What is said of a function of the student's beside the oracle's, in the first of the cases.
std::optional<Law> law_of(const std::vector<Values>& cases, const Function& right,
                          const Function& wrong, std::uint64_t seed = 1) {
  std::vector<TermSample> samples;
  for (const TermPoint& point : points_around(cases.front(), cases, seed)) {
    samples.push_back(
        {point.parameters, wrong(point.parameters), right(point.parameters), point.proves});
  }
  return find_law(
      samples,
      within_reason([&](const Values& values) { return std::optional(right(values)); }, cases));
}

std::string told(const std::vector<Values>& cases, const Function& right, const Function& wrong) {
  const auto law = law_of(cases, right, wrong);
  return law ? law->message : "";
}

/// Two cases of a GEMM.
std::vector<Values> gemms() {
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes) {
    return Values{{"m", m}, {"n", n}, {"k", k}, {"element", bytes}};
  };
  return {gemm(7, 5, 3, 2), gemm(1024, 999, 1000, 4), gemm(12, 100, 1, 1)};
}

/// A function of the sizes of a GEMM with one result.
Function of_gemm(std::int64_t (*result)(std::int64_t m, std::int64_t n, std::int64_t k,
                                        std::int64_t element)) {
  return [result](const Values& values) {
    return Values{{"bytes", result(int_of(values, "m"), int_of(values, "n"), int_of(values, "k"),
                                   int_of(values, "element"))}};
  };
}

const Function kGemmBytes =
    of_gemm([](auto m, auto n, auto k, auto element) { return element * (m * k + k * n + m * n); });

TEST(TermSearchTest, ATermThatIsMissingIsNamedWithTheNumbersOfTheCase) {
  EXPECT_EQ(
      told(gemms(), kGemmBytes,
           of_gemm([](auto m, auto n, auto k, auto e) { return e * (m * k + k * n); })),
      "bytes lacks the term element * m * n: at element = 2, m = 7, n = 5 it is 70 too small");
}

TEST(TermSearchTest, ATermThatIsThereTwiceIsNamed) {
  EXPECT_EQ(told(gemms(), kGemmBytes, of_gemm([](auto m, auto n, auto k, auto e) {
                   return e * (m * k + k * n + 2 * m * n);
                 })),
            "bytes counts element * m * n once too often: at element = 2, m = 7, n = 5 it is 70 "
            "too large");
}

TEST(TermSearchTest, ATermInThePlaceOfAnotherIsNamedWithTheOneThatIsDue) {
  EXPECT_EQ(told(gemms(), kGemmBytes, of_gemm([](auto m, auto n, auto k, auto e) {
                   return e * (m * k + k * n + m * k);
                 })),
            "bytes has k where n is due, in the term element * m * n: 114 where 142 is due");
}

TEST(TermSearchTest, AFactorOfOneTermIsNamedWithTheTerm) {
  EXPECT_EQ(told(gemms(), kGemmBytes,
                 of_gemm([](auto m, auto n, auto k, auto e) { return e * (m * k + k * n + m); })),
            "bytes lacks the factor n in the term element * m * n: 86 where 142 is due");
  EXPECT_EQ(told(gemms(), kGemmBytes, of_gemm([](auto m, auto n, auto k, auto e) {
                   return e * (m * k + k * n + m * n * k);
                 })),
            "bytes multiplies the term element * m * n by k, too: 282 where 142 is due");
  EXPECT_EQ(told(gemms(), kGemmBytes,
                 of_gemm([](auto m, auto, auto k, auto e) { return e * 3 * m * k; })),
            "bytes counts 2 * element * k * m where element * k * n and element * m * n are due: "
            "126 where 142 is due");
}

TEST(TermSearchTest, AFactorIsNamedByWhatShouldBeThere) {
  const Function macs = of_gemm([](auto m, auto n, auto k, auto) { return m * n * k; });
  EXPECT_EQ(told(gemms(), macs, of_gemm([](auto m, auto n, auto, auto) { return m * n; })),
            "bytes lacks the factor k: at k = 3 it is 35 where 105 is due");
  EXPECT_EQ(told(gemms(), macs, of_gemm([](auto m, auto, auto k, auto) { return m * k * k; })),
            "bytes counts k where n is due: at k = 3, n = 5 it is 63 where 105 is due");
  EXPECT_EQ(
      told(gemms(), macs, of_gemm([](auto m, auto n, auto k, auto) { return m * n * k * k; })),
      "bytes grows with k^2 where k is due: at k = 3 it is 315 where 105 is due");
  EXPECT_EQ(
      told(gemms(), macs, of_gemm([](auto m, auto n, auto k, auto) { return 3 * m * n * k; })),
      "bytes is 3 times what it should be, whatever the parameters are: 315 where 105 is due");
}

TEST(TermSearchTest, AParameterThatExplainsSeveralResultsIsNamedOnce) {
  const auto cost = [](bool uses_groups) {
    return [uses_groups](const Values& values) {
      const std::int64_t in = int_of(values, "in"), out = int_of(values, "out");
      const std::int64_t seen = uses_groups ? in / int_of(values, "groups") : in;
      return Values{{"macs", out * seen * 9}, {"bytes", 4 * (in + out + out * seen * 9)}};
    };
  };
  const auto sizes = [](std::int64_t in, std::int64_t out, std::int64_t groups) {
    return Values{{"in", in}, {"out", out}, {"groups", groups}};
  };
  EXPECT_EQ(told({sizes(32, 64, 8), sizes(3, 5, 1), sizes(256, 250, 2)}, cost(true), cost(false)),
            "groups is left out: what is returned belongs to groups = 1: bytes is 74112 where "
            "9600 is due");
}

TEST(TermSearchTest, TwoParametersThatAreExchangedAreNamed) {
  const Function right =
      of_gemm([](auto m, auto n, auto k, auto e) { return e * (m * k + k * n + n * n + 3); });
  const Function wrong =
      of_gemm([](auto n, auto m, auto k, auto e) { return e * (m * k + k * n + n * n + 3); });
  EXPECT_THAT(told(gemms(), right, wrong), HasSubstr("m"));
  const Function wide =
      of_gemm([](auto m, auto n, auto k, auto) { return (m + 1) * (n + 3) * (n + 2) * (k + m); });
  const Function swapped =
      of_gemm([](auto n, auto m, auto k, auto) { return (m + 1) * (n + 3) * (n + 2) * (k + m); });
  EXPECT_THAT(told(gemms(), wide, swapped), HasSubstr("m and n are in each other's place"));
}

TEST(TermSearchTest, AFactorOfTwoBesideAParameterIsToldByWhatWouldGiveTheSame) {
  const Function once =
      of_gemm([](auto m, auto n, auto k, auto) { return (k + 5) * std::max(m, n); });
  const Function twice =
      of_gemm([](auto m, auto n, auto k, auto) { return (2 * k + 5) * std::max(m, n); });
  const auto half = law_of(gemms(), twice, once);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->message, "half of k would give what is returned: bytes is 56 where 77 is due");
  const auto too_often = law_of(gemms(), once, twice);
  ASSERT_TRUE(too_often);
  EXPECT_EQ(too_often->message, "twice k would give what is returned: bytes is 77 where 56 is due");
}

TEST(TermSearchTest, RoundingIsNamedWithTheQuotient) {
  const Function right =
      of_gemm([](auto m, auto, auto k, auto) { return (m + k - 1) / k * 16 + 1; });
  const Function wrong = of_gemm([](auto m, auto, auto k, auto) { return m / k * 16 + 1; });
  const auto law = law_of({{{"m", std::int64_t{100}},
                            {"n", std::int64_t{1}},
                            {"k", std::int64_t{7}},
                            {"element", std::int64_t{4}}},
                           {{"m", std::int64_t{9}},
                            {"n", std::int64_t{2}},
                            {"k", std::int64_t{2}},
                            {"element", std::int64_t{4}}},
                           {{"m", std::int64_t{300}},
                            {"n", std::int64_t{2}},
                            {"k", std::int64_t{13}},
                            {"element", std::int64_t{4}}}},
                          right, wrong);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->code, Code("RL0543"));
  EXPECT_THAT(law->message, HasSubstr("right only where m is a multiple of k, and too small"));
}

TEST(TermSearchTest, AQuotientByOneProvesNothingOfItsRounding) {
  // Wrong in some way wherever there are several groups, which dilation is never a multiple of.
  std::vector<TermSample> samples;
  for (const std::int64_t dilation : {1, 5, 7, 11, 13, 17, 19, 23}) {
    for (const std::int64_t groups : {2, 1, 3, 4}) {
      const std::int64_t right = 1200 * dilation + 640;
      const std::int64_t lacks = groups == 1 ? 0 : 1 + (7 * dilation * dilation + groups) % 97;
      samples.push_back({Values{{"dilation", dilation}, {"groups", groups}},
                         Values{{"bytes", right - lacks}}, Values{{"bytes", right}},
                         dilation > 11});
    }
  }
  const auto law = find_law(samples, [](const Values&) { return std::nullopt; });
  EXPECT_THAT(law ? law->message : "", Not(HasSubstr("is a multiple of")));
}

TEST(TermSearchTest, AnIntThatOverflowsIsNamed) {
  const Function right = of_gemm([](auto m, auto n, auto k, auto) { return 8 * m * n * k; });
  const Function wrong = of_gemm([](auto m, auto n, auto k, auto) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(8 * m * n * k));
  });
  auto cases = gemms();
  std::swap(cases[0], cases[1]);
  const auto law = law_of(cases, right, wrong);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->code, Code("RL0542"));
}

std::vector<Values> roofs() {
  const auto roof = [](double peak, double bandwidth, double intensity) {
    return Values{{"peak", peak}, {"bandwidth", bandwidth}, {"intensity", intensity}};
  };
  return {roof(19.5e12, 1555e9, 170), roof(8.1e12, 320e9, 0.25), roof(989e12, 4800e9, 42)};
}

Function of_roof(double (*result)(double peak, double bandwidth, double intensity)) {
  return [result](const Values& values) {
    return Values{{"attainable", result(real_of(values, "peak"), real_of(values, "bandwidth"),
                                        real_of(values, "intensity"))}};
  };
}

TEST(TermSearchTest, TheLargerOfTwoIsToldFromTheSmallerAndFromTheSum) {
  const Function right = of_roof([](double peak, double bandwidth, double intensity) {
    return std::min(peak, bandwidth * intensity);
  });
  EXPECT_THAT(told(roofs(), right, of_roof([](double peak, double bandwidth, double intensity) {
                     return std::max(peak, bandwidth * intensity);
                   })),
              HasSubstr("attainable is the larger of the two, where the smaller of"));
  EXPECT_THAT(told(roofs(), right, of_roof([](double, double bandwidth, double intensity) {
                     return bandwidth * intensity;
                   })),
              AllOf(HasSubstr("attainable is always bandwidth * intensity, where the smaller of"),
                    HasSubstr("peak")));
}

TEST(TermSearchTest, UnitsAreNamed) {
  const Function right =
      of_roof([](double peak, double bandwidth, double) { return peak / bandwidth; });
  const auto scaled = [&](double factor) {
    return Function([factor, right](const Values& values) {
      return Values{{"attainable", factor * real_of(right(values), "attainable")}};
    });
  };
  EXPECT_THAT(told(roofs(), right, scaled(1e6)),
              HasSubstr("in another unit, 10^6 times too large"));
  EXPECT_THAT(told(roofs(), right, scaled(100)), HasSubstr("in percent"));
  EXPECT_THAT(told(roofs(), right, scaled(1e9 / 1073741824)),
              HasSubstr("10^9 / 1024^3 of what it should be"));
  EXPECT_THAT(told(roofs(), right,
                   of_roof([](double peak, double bandwidth, double) { return bandwidth / peak; })),
              HasSubstr("reciprocal"));
}

TEST(TermSearchTest, AQuotientThatIsUpsideDownWithinAProductIsNamed) {
  EXPECT_THAT(told(roofs(), of_roof([](double peak, double bandwidth, double intensity) {
                     return 8 * intensity * peak / bandwidth;
                   }),
                   of_roof([](double peak, double bandwidth, double intensity) {
                     return 8 * intensity * bandwidth / peak;
                   })),
              HasSubstr("attainable has peak / bandwidth upside down"));
}

TEST(TermSearchTest, ResultsInEachOthersPlaceAreNamed) {
  const Function right = [](const Values& values) {
    const double busy = real_of(values, "peak") / real_of(values, "bandwidth");
    const double idle = real_of(values, "intensity") / 3;
    return Values{{"busy", busy}, {"idle", idle}, {"seconds", busy + idle}};
  };
  const Function exchanged = [&](const Values& values) {
    Values results = right(values);
    std::swap(results["busy"], results["idle"]);
    return results;
  };
  const Function longer = [&](const Values& values) {
    Values results = right(values);
    results["seconds"] = std::max(real_of(results, "busy"), real_of(results, "idle"));
    return results;
  };
  EXPECT_THAT(told(roofs(), right, exchanged),
              HasSubstr("busy and idle are in each other's place"));
  EXPECT_THAT(told(roofs(), right, longer),
              HasSubstr("seconds is the larger of busy and idle, where the sum of both is due"));
}

TEST(TermSearchTest, NothingIsSaidOfARightFunction) {
  EXPECT_EQ(told(gemms(), kGemmBytes, kGemmBytes), "");
}

TEST(TermSearchTest, NothingIsSaidOfNumbersThatAreUnrelated) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed);
    std::map<Values, std::int64_t> drawn;
    const Function noise = [&](const Values& values) {
      const auto [place, is_new] = drawn.try_emplace(values, 0);
      if (is_new) place->second = static_cast<std::int64_t>(random() % 100'000);
      return Values{{"bytes", place->second}};
    };
    const auto law = law_of(gemms(), kGemmBytes, noise, seed);
    EXPECT_FALSE(law) << law->message;
  }
}

TEST(TermSearchTest, NothingIsSaidOfANumberThatIsOffByAnythingFromCallToCall) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed);
    const Function noise = [&](const Values& values) {
      const double right = 1e9 / static_cast<double>(int_of(values, "m"));
      return Values{{"bytes", right * std::uniform_real_distribution<>(0.5, 2)(random)}};
    };
    const Function right = [](const Values& values) {
      return Values{{"bytes", 1e9 / static_cast<double>(int_of(values, "m"))}};
    };
    const auto law = law_of(gemms(), right, noise, seed);
    EXPECT_FALSE(law) << law->message;
  }
}

/// A sum of products of four sizes, drawn at random.
struct Term {
  std::int64_t factor;
  std::array<int, 4> powers;

  std::int64_t at(const Values& values) const {
    std::int64_t product = factor;
    std::size_t i = 0;
    for (const char* name : {"element", "k", "m", "n"}) {
      for (int power = powers.at(i); power > 0; --power) product *= int_of(values, name);
      ++i;
    }
    return product;
  }
  std::string text() const {
    std::string text = factor == 1 ? "" : std::to_string(factor);
    std::size_t i = 0;
    for (const char* name : {"element", "k", "m", "n"}) {
      const int power = powers.at(i++);
      if (power == 0) continue;
      text += (text.empty() ? "" : " * ") + std::string(name);
      if (power > 1) text += "^" + std::to_string(power);
    }
    return text;
  }
};

Term drawn_term(std::mt19937_64& random) {
  Term term{static_cast<std::int64_t>(1 + random() % 5), {}};
  do {
    for (int& power : term.powers) power = random() % 3 == 0 ? 1 : 0;
    if (random() % 4 == 0) term.powers.at(random() % 4) = 2;
  } while (term.powers == std::array<int, 4>{});
  return term;
}

Function sum_of(const std::vector<Term>& terms) {
  return [terms](const Values& values) {
    std::int64_t sum = 0;
    for (const Term& term : terms) sum += term.at(values);
    return Values{{"total", sum}};
  };
}

TEST(TermSearchTest, OfRandomSumsTheMissingTermIsTheOneThatIsNamed) {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Term> terms;
    for (int i = 0; i < 4; ++i) terms.push_back(drawn_term(random));
    std::vector<Term> fewer(terms.begin() + 1, terms.end());
    const auto law = law_of(gemms(), sum_of(terms), sum_of(fewer), seed);
    if (!law) continue;
    ++named;
    EXPECT_THAT(law->message, HasSubstr("lacks the term " + terms[0].text() + ":")) << seed;
  }
  EXPECT_GE(named, 77);
}

TEST(TermSearchTest, OfRandomSumsTheReplacedTermIsTheOneThatIsNamed) {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Term> terms;
    for (int i = 0; i < 4; ++i) terms.push_back(drawn_term(random));
    Term other = drawn_term(random);
    if (other.powers == terms[0].powers) continue;
    std::vector<Term> replaced = terms;
    replaced[0] = other;
    const auto law = law_of(gemms(), sum_of(terms), sum_of(replaced), seed);
    if (!law) continue;
    ++named;
    const bool is_planted = law->message.find(terms[0].text()) != std::string::npos;
    // Another description that holds in all calls is as right: nothing else may be said.
    const bool is_substitution = law->message.find("is used") != std::string::npos ||
                                 law->message.find("left out") != std::string::npos;
    EXPECT_TRUE(is_planted || is_substitution)
        << seed << ": " << law->message << " of " << terms[0].text() << " by " << other.text();
  }
  EXPECT_GE(named, 80);
}

}  // namespace
}  // namespace rooflab
