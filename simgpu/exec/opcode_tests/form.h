#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// The opcode table of the differential test: one row per form (opcode, types, modifiers), with an
/// implementation of its own that shares nothing with the engine's arithmetic.
namespace simgpu::opcode_tests {

/// The bits of up to four source operands of one lane, in the low bits.
using Lane = std::array<std::uint64_t, 4>;

/// How a lane's result is judged.
enum class Match : std::uint8_t {
  bits,      ///< bit for bit
  any_nan,   ///< bit for bit, but every NaN is as good as another (f64)
  near_f32,  ///< the neighbouring float at most (approximations)
  near_f16,
  near_bf16,
  tanh_f32,   ///< relative error below 2^-11 (tanh.approx.f32)
  gross_f64,  ///< relative error below 2^-19 (rcp.approx.ftz.f64)
};

struct Form {
  /// One or more instructions. $d is the destination, $a $b $c $e the sources.
  std::string text;
  std::string result;                ///< PTX type: "f32", "u16", "pred"; decides register and store
  std::vector<std::string> sources;  ///< PTX types of $a $b $c $e: decide registers and values
  std::function<std::uint64_t(const Lane&)> expected;
  Match match = Match::bits;
};

using Forms = std::vector<Form>;

/// The forms of a file. One stands at namespace scope in each *_forms.cpp, and the tests find it.
class FormFile {
 public:
  FormFile(const char* topic, Forms (*make_forms)()) : topic_(topic), make_forms_(make_forms) {
    registered().push_back(*this);
  }
  static const std::vector<FormFile>& all() { return registered(); }

  std::string topic() const { return topic_; }
  Forms forms() const { return make_forms_(); }

 private:
  static std::vector<FormFile>& registered() {
    static std::vector<FormFile> files;
    return files;
  }

  const char* topic_;
  Forms (*make_forms_)();
};

/// Bits of a register for a PTX type; 1 for pred. 8-bit values live in 16-bit registers.
unsigned register_bits(const std::string& type);

}  // namespace simgpu::opcode_tests
