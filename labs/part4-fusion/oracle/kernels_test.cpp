// Holds the oracles of the kernels against the same steps in fp32, as a GPU takes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using ::testing::IsSupersetOf;
using ::testing::SizeIs;

std::unique_ptr<Oracle> oracle(const std::string& name) { return oracle_registry().at(name)(); }

std::vector<float> floats_of(const Problem& problem, const std::string& name) {
  const std::vector<double> wide = widened(problem, name);
  return {wide.begin(), wide.end()};
}

float as_stored(ElementType type, float value) { return static_cast<float>(rounded(type, value)); }

/// What a GPU stores when it computes `values` in float must pass.
void expect_accepted(const std::vector<float>& values, const Expected& expected, ElementType type) {
  ASSERT_EQ(values.size(), expected.value.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_LE(std::abs(rounded(type, values[i]) - expected.value[i]), expected.tolerance[i])
        << expected.tensor << " " << i;
  }
}

std::set<std::string> codes(const std::string& name, const Values& values) {
  std::set<std::string> found;
  const Problem problem = oracle(name)->make(values, 21);
  for (const KnownMistake& mistake : oracle(name)->mistakes(problem))
    found.insert(mistake.code.text());
  return found;
}

float gelu(float x) {
  return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
}

const char* const kFloatAndBf16[] = {"float", "bf16"};

TEST(FusedGeluOracleTest, AcceptsWhatAGpuComputes) {
  for (const std::string type : kFloatAndBf16) {
    const Problem problem =
        oracle("fused_gelu")->make({{"count", std::int64_t{5000}}, {"type", type}}, 3);
    std::vector<float> y;
    for (const float x : floats_of(problem, "x")) y.push_back(gelu(x));
    expect_accepted(y, oracle("fused_gelu")->expect(problem).at(0),
                    storage_type(problem.parameters));
  }
}

TEST(FusedGeluOracleTest, KnowsOtherFunctionsAndEarlyRounding) {
  EXPECT_THAT(codes("fused_gelu", {{"count", std::int64_t{5000}}, {"type", std::string("bf16")}}),
              IsSupersetOf({"RL0469", "RL0490", "RL0491"}));
}

Values norm_case(std::int64_t rows, std::int64_t width, const std::string& type) {
  return {{"rows", rows}, {"width", width}, {"type", type}};
}

TEST(AddRmsNormOracleTest, AcceptsWhatAGpuComputes) {
  for (const std::string type : kFloatAndBf16) {
    for (const std::int64_t width : {1, 131, 640, 5001}) {
      const Problem problem = oracle("add_rmsnorm")->make(norm_case(9, width, type), 5);
      const ElementType stored_as = storage_type(problem.parameters);
      const auto epsilon = static_cast<float>(std::get<double>(problem.parameters.at("epsilon")));
      const std::vector<float> x = floats_of(problem, "x"), weight = floats_of(problem, "weight");
      std::vector<float> residual = floats_of(problem, "residual"), y(residual.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        residual[i] = as_stored(stored_as, residual[i] + x[i]);
      }
      for (std::size_t row = 0; row < x.size(); row += weight.size()) {
        float squares = 0;
        for (std::size_t i = row; i < row + weight.size(); ++i)
          squares += residual[i] * residual[i];
        const float scale = 1 / std::sqrt(squares / static_cast<float>(width) + epsilon);
        for (std::size_t i = 0; i < weight.size(); ++i) {
          y[row + i] = residual[row + i] * (scale * (1 + weight[i]));
        }
      }
      const std::vector<Expected> expected = oracle("add_rmsnorm")->expect(problem);
      ASSERT_THAT(expected, SizeIs(2));
      expect_accepted(residual, expected[0], stored_as);
      expect_accepted(y, expected[1], stored_as);
    }
  }
}

TEST(AddRmsNormOracleTest, KnowsEveryOrderOfItsSteps) {
  EXPECT_THAT(codes("add_rmsnorm", norm_case(9, 640, "bf16")),
              IsSupersetOf({"RL0460", "RL0461", "RL0462", "RL0463", "RL0492", "RL0493", "RL0494",
                            "RL0495"}));
  EXPECT_EQ(codes("add_rmsnorm", norm_case(9, 640, "float")).count("RL0495"), 0U);
}

Values mlp_case(std::int64_t tokens, std::int64_t hidden, std::int64_t intermediate,
                const std::string& type, double gate_size = 1) {
  return {{"tokens", tokens},
          {"hidden", hidden},
          {"intermediate", intermediate},
          {"type", type},
          {"gate_size", gate_size}};
}

/// x (rows, in) weight^T in float, one product after the other.
std::vector<float> projected(const std::vector<float>& x, const std::vector<float>& weight,
                             std::size_t in) {
  std::vector<float> y;
  for (std::size_t row = 0; row < x.size(); row += in) {
    for (std::size_t feature = 0; feature < weight.size(); feature += in) {
      float sum = 0;
      for (std::size_t i = 0; i < in; ++i) sum += x[row + i] * weight[feature + i];
      y.push_back(sum);
    }
  }
  return y;
}

TEST(MlpOracleTest, AcceptsWhatAGpuComputes) {
  for (const std::string type : {"float", "half"}) {
    for (const double gate_size : {1.0, 5e4}) {
      const Problem problem = oracle("mlp")->make(mlp_case(5, 203, 131, type, gate_size), 7);
      const ElementType stored_as = storage_type(problem.parameters);
      const std::vector<float> x = floats_of(problem, "x");
      const std::vector<float> gate = projected(x, floats_of(problem, "gate_proj"), 203);
      const std::vector<float> up = projected(x, floats_of(problem, "up_proj"), 203);
      std::vector<float> product;
      for (std::size_t i = 0; i < gate.size(); ++i) {
        product.push_back(as_stored(stored_as, gelu(gate[i]) * up[i]));
        ASSERT_LE(std::abs(product.back()), 30'000) << "mlp.h says so";
      }
      expect_accepted(projected(product, floats_of(problem, "down_proj"), 131),
                      oracle("mlp")->expect(problem).at(0), stored_as);
    }
  }
}

TEST(MlpOracleTest, KnowsOtherProductsAndOtherLayouts) {
  EXPECT_THAT(codes("mlp", mlp_case(9, 100, 64, "float")),
              IsSupersetOf({"RL0412", "RL0413", "RL0469", "RL0470", "RL0491", "RL0498"}));
  EXPECT_THAT(codes("mlp", mlp_case(20, 64, 96, "half", 5e4)), IsSupersetOf({"RL0496"}));
}

TEST(MlpOracleTest, RefusesKernelsThatStoreMoreThanTheProductAndOutWhereACaseAsksForIt) {
  Problem problem = oracle("mlp")->make(mlp_case(4, 32, 64, "half"), 7);
  const auto complaints = [&](const std::vector<std::uint64_t>& stored) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    for (const std::uint64_t bytes : stored) {
      simgpu::KernelRecord kernel;
      kernel.name = "void (anonymous namespace)::some_kernel<float>(float const*)";
      kernel.counters.global_store_bytes = bytes;
      evidence.activity.kernels.push_back(kernel);
    }
    return oracle("mlp")->judge(problem, evidence);
  };
  constexpr std::uint64_t kProduct = 4 * 64 * 2, kOut = 4 * 32 * 2;
  EXPECT_THAT(complaints({kProduct, kProduct, kProduct, kOut}), SizeIs(0));
  problem.parameters["judges_structure"] = std::int64_t{1};
  EXPECT_THAT(complaints({kProduct, kOut}), SizeIs(0));
  EXPECT_THAT(complaints({kProduct + kProduct / 2, kOut}), SizeIs(0));
  const std::vector<Complaint> refused = complaints({kProduct, kProduct, kProduct, kOut});
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].code, Code("RL0497"));
  EXPECT_THAT(refused[0].message.text,
              ::testing::HasSubstr("stored: some_kernel<float> 512 bytes"));
}

TEST(MlpOracleTest, TakesWhatAtomicsBringToMemoryForStored) {
  Problem problem = oracle("mlp")->make(mlp_case(4, 32, 64, "float"), 7);
  problem.parameters["judges_structure"] = std::int64_t{1};
  constexpr std::uint64_t kProduct = 4 * 64, kOut = 4 * 32;  // elements, of 4 bytes
  // The product is stored; then so many additions go to so many addresses.
  const auto complaints = [&](std::uint64_t additions, std::uint64_t addresses) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    simgpu::KernelRecord product, sums;
    product.counters.global_store_bytes = 4 * kProduct;
    sums.counters.global_atomic_bytes = 4 * additions;
    sums.counters.atomic_addresses = addresses;
    evidence.activity.kernels = {product, sums};
    return oracle("mlp")->judge(problem, evidence);
  };
  EXPECT_THAT(complaints(4 * kOut, kOut), SizeIs(0)) << "out from four parts";
  EXPECT_THAT(complaints(2 * kProduct, 2 * kProduct), SizeIs(1)) << "gate and up";
  EXPECT_THAT(complaints(4 * kProduct, kOut), SizeIs(1)) << "both, through the same few places";
}

TEST(FuserOracleTest, CountsLaunchesAndCompilationsWhereACaseAsksForIt) {
  Problem problem = oracle("fuser")->make({{"expression", std::string("x0 x1 add")},
                                           {"inputs", std::int64_t{2}},
                                           {"count", std::int64_t{8}},
                                           {"calls", std::int64_t{3}},
                                           {"type", std::string("float")}},
                                          7);
  const auto complaints = [&](std::size_t launches, std::uint64_t loads) {
    CallEvidence evidence;
    evidence.keeps_records = true;
    evidence.activity.kernels.resize(launches);
    evidence.activity.api_calls["cuModuleLoadData"] = loads;
    return oracle("fuser")->judge(problem, evidence);
  };
  EXPECT_THAT(complaints(6, 6), SizeIs(0));
  problem.parameters["judges_structure"] = std::int64_t{1};
  EXPECT_THAT(complaints(3, 1), SizeIs(0));
  EXPECT_THAT(complaints(6, 1), SizeIs(1));
  EXPECT_THAT(complaints(3, 3), SizeIs(1));
}

}  // namespace
}  // namespace rooflab
