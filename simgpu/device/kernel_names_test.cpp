#include "simgpu/device/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu::kernel_names_test {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(KernelDisplayName, IsTheNameInTheSource) {
  EXPECT_EQ(kernel_display_name("_Z10gemm_tiledPKfS0_Pfiii"), "gemm_tiled");
  EXPECT_EQ(kernel_display_name("_Z6rotateILi128EEvPd"), "rotate<128>");
  EXPECT_EQ(kernel_display_name("_ZN3lab6kernelEPf"), "lab::kernel");
  EXPECT_EQ(kernel_display_name("_ZN23_INTERNAL_857f_4_f_cu_112_GLOBAL__N_15scaleEPf"),
            "(anonymous namespace)::scale");
  EXPECT_EQ(kernel_display_name("_ZN23_INTERNAL_857f_4_f_cu_112_GLOBAL__N_15scaleILi64EEEvPf"),
            "(anonymous namespace)::scale<64>")
      << "of a template, whose return type comes first";
  EXPECT_EQ(kernel_display_name("not_mangled"), "not_mangled");
  EXPECT_EQ(kernel_display_name("f"), "f") << "an extern C function, not the type float";
}

/// f<t<t<t<…>, t<…>>, …>>: each level writes the one before twice, in a few characters.
std::string name_that_doubles(int levels) {
  constexpr const char* kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fI1tIiiE";
  for (int level = 0; level < levels; ++level) {
    const std::string before = std::string("S") + kDigits[level] + "_";
    name += "S_I" + before + before + "E";
  }
  return name + "Evv";
}

TEST(KernelDisplayName, DoesNotGrowBeyondAllBounds) {
  EXPECT_THAT(kernel_display_name(name_that_doubles(2)), StartsWith("f<"));
  const std::string hostile = name_that_doubles(34);  // 10^9 characters
  EXPECT_EQ(kernel_display_name(hostile), hostile);
  const std::string shown = kernel_display_name(std::string(1'000'000, 'k'));
  EXPECT_THAT(shown, SizeIs(::testing::Le(1000)));
  EXPECT_THAT(shown, EndsWith("..."));
}

}  // namespace
}  // namespace simgpu::kernel_names_test
