#include "grader/report/html_style.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/contrast_testing.h"
#include "grader/report/source_page.h"

namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HtmlStyleTest, EveryTextOfAReportHasEnoughContrastInLightAndInDark) {
  EXPECT_THAT(contrast_faults(std::string(kStyleSheet) + kSourcePageStyle), IsEmpty());
}

TEST(HtmlStyleTest, AColourThatIsTooPaleIsFound) {
  constexpr const char* kRest = "p{color:var(--ink)}main{background:var(--paper)}";
  const std::string dark = "@media (prefers-color-scheme:dark){:root{--ink:#fff;--paper:#000}}";
  EXPECT_THAT(contrast_faults(":root{--ink:#777;--paper:#fff}" + dark + kRest),
              ElementsAre("light: ink on paper has 4.48"));
  EXPECT_THAT(contrast_faults(":root{--ink:#767676;--paper:#fff}" + dark + kRest), IsEmpty());
  EXPECT_THAT(contrast_faults(":root{--ink:#000;--paper:#fff}" + std::string(kRest)),
              Contains(HasSubstr("dark: there is no ink")));
}

TEST(HtmlStyleTest, AColourThatNobodyComparesIsFound) {
  EXPECT_THAT(contrast_faults("p{color:#ccc}"), ElementsAre("#ccc stands outside of :root"));
  EXPECT_THAT(contrast_faults("p{color:rgb(1,2,3)}"), ElementsAre("rgb( stands outside of :root"));
}

}  // namespace
}  // namespace rooflab
