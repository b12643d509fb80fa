#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "simgpu/exec/opcode_tests/form_runner.h"
#include "simgpu/exec/opcode_tests/kernel_text.h"
#include "simgpu/exec/opcode_tests/operands.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// Every form of every opcode, run on the engine over special and random operands, against an
/// implementation of its own.
namespace simgpu::opcode_tests::opcode_test {
namespace {

constexpr std::uint32_t kLanes = 1030;

class Opcode : public ::testing::TestWithParam<std::pair<const FormFile*, std::size_t>> {
 protected:
  struct Prepared {
    explicit Prepared(const FormFile& file) : forms(file.forms()), runner(forms) {}
    Forms forms;
    FormRunner runner;
  };
  static Prepared& prepared(const FormFile& file) {
    static std::map<const FormFile*, std::unique_ptr<Prepared>> all;
    auto& entry = all[&file];
    if (entry == nullptr) entry = std::make_unique<Prepared>(file);
    return *entry;
  }
};

/// Floats in the order of their values as integers, so that neighbours differ by 1.
std::int64_t ordinal(std::uint64_t bits, unsigned width) {
  const auto magnitude = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << (width - 1)) - 1));
  return (bits >> (width - 1) & 1) != 0 ? -magnitude : magnitude;
}

bool neighbours(std::uint64_t actual, std::uint64_t expected, unsigned width,
                std::uint64_t infinity) {
  if ((expected & ((std::uint64_t{1} << (width - 1)) - 1)) > infinity) return actual == expected;
  return std::llabs(ordinal(actual, width) - ordinal(expected, width)) <= 1;
}

bool matches(std::uint64_t actual, std::uint64_t expected, Match match) {
  if (actual == expected) return true;
  const double x = f64_of(actual);
  const double y = f64_of(expected);
  switch (match) {
    case Match::bits:
      return false;
    case Match::any_nan:
      return std::isnan(x) && std::isnan(y);
    case Match::near_f32:
      return neighbours(actual, expected, 32, 0x7f800000);
    case Match::near_f16:
      return neighbours(actual, expected, 16, 0x7c00);
    case Match::near_bf16:
      return neighbours(actual, expected, 16, 0x7f80);
    case Match::tanh_f32: {
      const auto got = static_cast<double>(f32_of(actual)),
                 exact = static_cast<double>(f32_of(expected));
      return std::fabs(got - exact) <= std::fabs(exact) * 0x1p-11;
    }
    case Match::gross_f64:
      if (std::isnan(y)) return std::isnan(x);
      // Subnormal results become zero.
      if (std::fabs(y) < 0x1p-1022) return x == 0;
      if (std::isinf(y)) return x == y;
      return std::fabs(x - y) <= std::fabs(y) * 0x1p-19;
  }
  return false;
}

std::string in_hex(std::uint64_t x) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

std::string operands_of(const Form& form, const Lane& lane) {
  std::string text;
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    const unsigned bits = register_bits(form.sources[i]);
    const bool predicate = bits == 1;
    text +=
        (i == 0 ? "" : ", ") + in_hex(predicate ? lane[i] : cut(static_cast<Wide>(lane[i]), bits));
  }
  return text;
}

TEST_P(Opcode, AgreesWithAnIndependentImplementation) {
  const auto [file, index] = GetParam();
  Prepared& all = prepared(*file);
  const Form& form = all.forms[index];
  SCOPED_TRACE(form.text);
  ASSERT_EQ(all.runner.refusal(index), "") << "the engine does not have this form";
  const std::vector<Lane> lanes = operands_for(form.sources, kLanes);
  const std::vector<LaneResult> results = all.runner.run(index, form, lanes);
  const unsigned bits = register_bits(form.result);
  int failures = 0;
  for (std::uint32_t lane = 0; lane < kLanes && failures < 3; ++lane) {
    const std::uint64_t expected = form.expected(lanes[lane]);
    const std::uint64_t kept = bits == 1 ? 0 : cut(static_cast<Wide>(kUntouched), bits);
    const bool plain = matches(results[lane].plain, expected, form.match);
    const bool guarded = guard_of(lane) ? matches(results[lane].guarded, expected, form.match)
                                        : results[lane].guarded == kept;
    if (plain && guarded) continue;
    ++failures;
    ADD_FAILURE() << "lane " << lane << " of (" << operands_of(form, lanes[lane]) << ") gave "
                  << in_hex(results[lane].plain) << " instead of " << in_hex(expected)
                  << "; guarded " << (guard_of(lane) ? "on" : "off") << " gave "
                  << in_hex(results[lane].guarded);
  }
}

std::vector<std::pair<const FormFile*, std::size_t>> numbered_forms() {
  std::vector<std::pair<const FormFile*, std::size_t>> all;
  for (const FormFile& file : FormFile::all()) {
    const std::size_t count = file.forms().size();
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(&file, i);
  }
  return all;
}

/// "float_add_rn_f32_7": the file's topic, the first instruction's spelling and the row's number.
std::string test_name(const ::testing::TestParamInfo<Opcode::ParamType>& info) {
  static std::map<const FormFile*, Forms> tables;
  const FormFile* file = info.param.first;
  if (tables[file].empty()) tables[file] = file->forms();
  const std::string& text = tables[file][info.param.second].text;
  std::string name = file->topic() + "_" + text.substr(0, text.find(' '));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name + "_" + std::to_string(info.param.second);
}

INSTANTIATE_TEST_SUITE_P(EveryForm, Opcode, ::testing::ValuesIn(numbered_forms()), test_name);

}  // namespace
}  // namespace simgpu::opcode_tests::opcode_test
