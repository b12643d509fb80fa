#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <sstream>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/exec/maths_tests/functions.h"

// CUDA's mathematical library, as nvcc puts it into kernels, against values in binary128.
namespace simgpu::maths_tests {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kFewest = 1024;  ///< arguments of each function, besides special ones

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// A number's place among all of its type: neighbours differ by one, both zeros are 0.
template <class T>
__int128 place(T x) {
  const auto bits = std::bit_cast<Bits<T>>(x);
  return bits >= 0 ? bits : std::numeric_limits<Bits<T>>::min() - __int128{bits};
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const double x :
       {0.25,   0.5,    0.75,   1.0,    1.5,    2.0,    2.5,   3.0,   3.5,   M_PI_4,
        M_PI_2, M_PI,   10.0,   36.0,   100.0,  128.0,  150.0, 171.5, 710.0, 1024.0,
        0x1p23, 0x1p24, 0x1p31, 0x1p52, 0x1p53, 0x1p63, 1e-10, 1e20}) {
    values.push_back(static_cast<T>(x));
  }
  for (const T x : {T{1}, T{0.5}, T{2}, static_cast<T>(M_PI)}) {
    values.push_back(std::nextafter(x, T{0}));
    values.push_back(std::nextafter(x, T{100}));
  }
  values.insert(values.end(), {T{0}, Limits::denorm_min(), 2 * Limits::denorm_min(), Limits::min(),
                               std::nextafter(Limits::min(), T{0}), Limits::max(),
                               Limits::infinity(), Limits::quiet_NaN()});
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

/// The same arguments in every run: special values, all exponents, and a function's intervals.
template <class T>
class Samples {
 public:
  explicit Samples(const Function& function) : function_(function), special_(special_values<T>()) {}

  std::vector<std::array<T, 4>> all() {
    std::vector<std::array<T, 4>> rows;
    if (function_.arguments == 1) {
      for (const T x : special_) rows.push_back({x, T{0}, T{0}, T{0}});
    } else {
      for (const T x : special_) {
        for (const T y : special_) rows.push_back({x, y, one(), one()});
      }
    }
    do {
      rows.push_back({one(), one(), one(), one()});
    } while (rows.size() < kFewest || rows.size() % kThreads != 0);
    return rows;
  }

 private:
  T one() {
    switch (random_() % 8) {
      case 0:
        return special_[random_() % special_.size()];
      case 1:
      case 2:
        return std::bit_cast<T>(static_cast<Bits<T>>(random_()));
      default:
        break;
    }
    const auto [low, high] = function_.intervals[random_() % function_.intervals.size()];
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(random_));
  }

  const Function& function_;
  const std::vector<T> special_;
  std::mt19937_64 random_{1};
};

/// What was farthest off.
struct Worst {
  double ulps = 0;
  std::size_t wrong = 0;
  std::string example;
};

std::string in_words(double x) {
  std::ostringstream text;
  text << std::hexfloat << x << std::defaultfloat << " (" << x << ")";
  return text.str();
}

template <class T>
class Judge {
 public:
  Judge(const Function& function, const Limit& limit) : function_(function), limit_(limit) {}

  void judge(const std::array<T, 4>& row, T got) {
    const Arguments x{row[0], row[1], row[2], row[3], sizeof(T) == 4};
    const Quad exact = function_.value(x);
    const T nearest = static_cast<T>(exact);
    const Allowed allowed = limit_(x);
    if (std::isinf(allowed.ulps)) return;
    if (std::isnan(nearest) || std::isnan(got)) {
      if (std::isnan(nearest) != std::isnan(got)) miss(row, got, nearest);
      return;
    }
    const __int128 apart = place(got) - place(nearest);
    const auto ulps = static_cast<double>(apart < 0 ? -apart : apart);
    const Quad error = got - exact;
    const bool close = ulps <= allowed.ulps || (error < 0 ? -error : error) <= allowed.absolute;
    if (allowed.absolute == 0) worst_.ulps = std::max(worst_.ulps, ulps);
    const bool zero_differs = exact == 0 && got == 0 && std::signbit(got) != std::signbit(nearest);
    if (!close || (zero_differs && !function_.either_zero)) miss(row, got, nearest);
  }
  void judge_whole(const std::array<T, 4>& row, long long got) {
    const Arguments x{row[0], row[1], row[2], row[3], sizeof(T) == 4};
    if (std::isinf(limit_(x).ulps)) return;
    const Quad exact = function_.value(x);
    if (!(got == exact)) miss(row, static_cast<T>(got), static_cast<T>(exact));
  }

  const Worst& worst() const { return worst_; }

 private:
  void miss(const std::array<T, 4>& row, T got, T nearest) {
    if (worst_.wrong++ > 0) return;
    worst_.example = "of";
    for (unsigned i = 0; i < function_.arguments; ++i) worst_.example += " " + in_words(row[i]);
    worst_.example += " is " + in_words(got) + ", not " + in_words(nearest);
  }

  const Function& function_;
  const Limit& limit_;
  Worst worst_;
};

template <class T>
Worst worst_of(testing::Device& device, const std::string& kernel, const Function& function,
               const Limit& limit) {
  const std::vector<std::array<T, 4>> rows = Samples<T>(function).all();
  std::array<std::uint64_t, 4> columns{};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    std::vector<T> column;
    for (const std::array<T, 4>& row : rows) column.push_back(row[k]);
    columns[k] = device.put(column);
  }
  const std::uint64_t results = device.put(std::vector<long long>(rows.size()));
  testing::Launch launch;
  launch.grid = {static_cast<std::uint32_t>(rows.size() / kThreads), 1, 1};
  launch.block = {kThreads, 1, 1};
  const LaunchResult result =
      device.run(kernel, launch, columns[0], columns[1], columns[2], columns[3], results);
  EXPECT_EQ(result.status, LaunchStatus::ok) << kernel;
  EXPECT_TRUE(result.findings.empty()) << kernel << ": " << result.findings.front().message;

  Judge<T> judge(function, limit);
  const auto values = device.get<T>(results, rows.size());
  const auto wholes = device.get<long long>(results, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (function.whole) {
      judge.judge_whole(rows[i], wholes[i]);
    } else {
      judge.judge(rows[i], values[i]);
    }
  }
  for (const std::uint64_t address : columns) device.memory().release(address);
  device.memory().release(results);
  return judge.worst();
}

class Maths : public ::testing::Test {
 protected:
  template <class T>
  void check(const std::string& kernel, const Function& function, const Limit& limit) {
    const Worst worst = worst_of<T>(device_, kernel, function, limit);
    EXPECT_EQ(worst.wrong, 0u) << kernel << " " << worst.example;
    if (std::getenv("SIMGPU_TEST_TELLS") != nullptr) {
      std::cout << kernel << " " << worst.ulps << '\n';
    }
  }
  testing::Device device_ = testing::Device::from_file(SIMGPU_MATHS_PTX);
};

TEST_F(Maths, FunctionsOfFloatAreAsNearAsTheirTablesSay) {
  for (const Function& function : all_functions()) {
    if (function.f32) check<float>("f32_" + function.name, function, *function.f32);
  }
}

TEST_F(Maths, FunctionsOfDoubleAreAsNearAsTheirTablesSay) {
  for (const Function& function : all_functions()) {
    if (function.f64) check<double>("f64_" + function.name, function, *function.f64);
  }
}

TEST_F(Maths, EveryKernelIsTested) {
  std::set<std::string> tested;
  for (const Function& function : all_functions()) {
    if (function.f32) tested.insert("f32_" + function.name);
    if (function.f64) tested.insert("f64_" + function.name);
  }
  std::set<std::string> kernels;
  for (const std::string& name : kernel_names(device_.program())) kernels.insert(name);
  EXPECT_EQ(tested, kernels);
}

}  // namespace
}  // namespace simgpu::maths_tests
