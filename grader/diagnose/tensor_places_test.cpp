#include "grader/diagnose/tensor_places.h"

#include <gmock/gmock.h>

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// C (6, 10) = A (6, 4) B (4, 10), and a vector.
Problem problem() {
  const auto tensor = [](const char* name, std::vector<std::int64_t> shape) {
    Tensor made;
    made.name = name;
    made.shape = std::move(shape);
    return made;
  };
  return {{{"m", std::int64_t{6}}, {"k", std::int64_t{4}}, {"n", std::int64_t{10}}},
          {tensor("A", {6, 4}), tensor("B", {4, 10}), tensor("C", {6, 10}), tensor("x", {1000})}};
}

simgpu::Finding finding_at(simgpu::ArrayPlace place) {
  simgpu::Finding finding;
  finding.code = "RL0201";
  place.space = simgpu::ArraySpace::global;
  if (place.words.empty()) place.words = "some bytes";
  finding.object = place.words;
  finding.message = "it is at " + place.words;
  finding.places = {std::move(place)};
  return finding;
}

TEST(TensorPlaces, HaveTheIndicesOfTheirTensor) {
  const auto named = with_tensor_elements(
      finding_at({.name = "A", .bytes = 96, .offset = 20, .touched = 4}), problem(), {});
  EXPECT_EQ(named.object, "A[1][1], where A has 6 x 4 elements");
  EXPECT_EQ(named.message, "it is at A[1][1], where A has 6 x 4 elements");
  EXPECT_EQ(
      with_tensor_elements(finding_at({.name = "x", .bytes = 4000, .offset = 8}), problem(), {})
          .object,
      "x[2], where x has 1000 elements");
}

TEST(TensorPlaces, BesideATensorKeepTheirBytes) {
  const auto beside =
      finding_at({.name = "A", .words = "4 bytes past the end of A", .bytes = 96, .offset = 100});
  EXPECT_EQ(with_tensor_elements(beside, problem(), {}).object,
            "4 bytes past the end of A, which has 6 x 4 elements");
}

TEST(TensorPlaces, OfOtherAllocationsStayAsTheyAre) {
  for (const auto& place : {simgpu::ArrayPlace{.name = "cudaMalloc", .bytes = 96},
                            simgpu::ArrayPlace{.name = "A", .bytes = 100}}) {
    EXPECT_EQ(with_tensor_elements(finding_at(place), problem(), {}).object, "some bytes");
  }
}

/// A has its rows called tokens and its columns channels; B's axes have no names.
AxisNames axes() { return {{"A", {"token", "channel"}}}; }

std::string object_of(simgpu::ArrayPlace place) {
  return with_tensor_elements(finding_at(std::move(place)), problem(), axes()).object;
}

TEST(TensorPlaces, AreInTheTasksCoordinatesWhereTheAxesHaveNames) {
  EXPECT_EQ(object_of({.name = "A", .bytes = 96, .offset = 20, .touched = 4}),
            "A[1][1] (token 1, channel 1), where A has 6 x 4 elements");
  EXPECT_EQ(object_of({.name = "B", .bytes = 160, .offset = 44, .touched = 4}),
            "B[1][1], where B has 4 x 10 elements");
}

TEST(TensorPlaces, BehindATensorSayWhichElementWouldBeThere) {
  const std::string words = "4 bytes past the end of A";
  EXPECT_EQ(object_of({.name = "A", .words = words, .bytes = 96, .offset = 100}),
            words + ", which has 6 x 4 elements: this would be token 6, channel 1");
  EXPECT_EQ(object_of({.name = "A", .words = words, .bytes = 96, .offset = -4}),
            words + ", which has 6 x 4 elements");
}

/// Two stores that meet in A[1][2], of these widths.
simgpu::Finding race_of(std::uint32_t bytes, std::uint32_t other_bytes) {
  simgpu::Finding race = finding_at({.name = "A", .bytes = 96, .offset = 24, .touched = bytes});
  race.code = "RL0304";
  race.where.action = "writes";
  race.where.bytes = bytes;
  race.other = race.where;
  race.other->bytes = other_bytes;
  return with_tensor_elements(race, problem(), axes());
}

TEST(TensorPlaces, OfBothSidesOfARaceAreSaidWhereTheyDiffer) {
  const simgpu::Finding wide = race_of(4, 16);
  EXPECT_EQ(wide.where.action, "writes (token 1, channel 2)");
  EXPECT_EQ(wide.other->action, "writes (token 1, channels 0 to 3)");
  EXPECT_EQ(race_of(4, 4).where.action, "writes");
  EXPECT_EQ(race_of(4, 0).other->action, "writes") << "its width is not known";
}

TEST(HelpBySizes, SaysThatAnAllocationCountsBytes) {
  const auto help = [](std::uint64_t bytes, std::int64_t offset) {
    return help_by_sizes(
        finding_at({.name = "cudaMalloc", .bytes = bytes, .offset = offset, .touched = 4}),
        problem());
  };
  EXPECT_THAT(help(1000, 1000), HasSubstr("1000 bytes, as many as x has elements"));
  EXPECT_THAT(help(1000, 1000), HasSubstr("multiply by sizeof of an element, 4 bytes"));
  EXPECT_THAT(help(24, 92), HasSubstr("as many as A has elements"));
  EXPECT_THAT(help(1000, 4000), IsEmpty()) << "it would be outside in any case";
  EXPECT_THAT(help(1000, 500), IsEmpty()) << "it is inside";
  EXPECT_THAT(help(999, 1000), IsEmpty()) << "nothing has so many elements";
}

TEST(HelpBySizes, SaysWhereTheRowsOfAnotherMatrixAreTaken) {
  const auto help = [](std::int64_t step_x, std::int64_t step_y) {
    return help_by_sizes(finding_at({.name = "A",
                                     .bytes = 96,
                                     .offset = 120,
                                     .touched = 4,
                                     .step_x = step_x,
                                     .step_y = step_y}),
                         problem());
  };
  EXPECT_THAT(help(0, 40), HasSubstr("10 elements apart in A, whose rows have 4"));
  EXPECT_THAT(help(40, 4), HasSubstr("10 elements apart in A"));
  EXPECT_THAT(help(4, 16), IsEmpty()) << "its own rows";
  EXPECT_THAT(help(4, 44), IsEmpty()) << "nothing is 11 long";
  EXPECT_THAT(help(40, 40), IsEmpty()) << "no way along rows";
}

}  // namespace
}  // namespace rooflab
