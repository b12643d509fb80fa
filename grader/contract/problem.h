#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// Plain values that the grader, a lab's oracle and the guest exchange. Nothing here names a lab.
namespace rooflab {

/// A parameter of a case or a result of a call.
using Value = std::variant<std::int64_t, double, std::string>;
using Values = std::map<std::string, Value>;

/// A value as a reader expects it: up to ten digits, text in quotes, every NaN as "NaN".
std::string text_of(const Value& value);
/// "k = 64, m = 32".
std::string text_of(const Values& values);

enum class ElementType : std::uint8_t { float32, float64, float16, bfloat16, int32 };
std::size_t size_of(ElementType type);

enum class Role : std::uint8_t { input, output, in_out };

/// A row-major tensor in device memory while a case runs.
struct Tensor {
  std::string name;
  ElementType type = ElementType::float32;
  Role role = Role::input;
  std::vector<std::int64_t> shape;
  /// Contents for inputs, empty for outputs. Of a vast problem whole pages of 4 KiB, at most 1 MiB,
  /// which the tensor repeats from its start to its end.
  std::vector<std::byte> data;
  std::int64_t elements() const;
  std::size_t bytes() const;  ///< of all elements
};

/// Neighbouring elements of a tensor.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What one call of a student's function gets.
struct Problem {
  Values parameters;  ///< scalars the adapter reads by name: m, n, k …
  std::vector<Tensor> tensors;
  /// Decides which elements of an output are compared where it is too large to compare whole. A
  /// guest never has it, nor anything that it could be told from: it is drawn apart from the
  /// inputs.
  std::uint64_t selection = 0;
  /// After a call of which the device ran only a part: by tensor's name, the elements that were
  /// written, in order and apart from each other. Only these are compared, so that an oracle that
  /// compares some elements chooses among them. A tensor that is not named is compared whole.
  std::map<std::string, std::vector<ElementRange>> written = {};
  /// Its tensors may be larger than the machine's memory. A device runs some blocks of each launch
  /// and backs what they touch; `written` names what they wrote, and an oracle looks at nothing
  /// else.
  bool vast = false;
};

/// What an output must hold: element i passes when !(|got - value[i]| > tolerance[i]) and got is a
/// number. Without tolerance it must be that very value: a zero has its sign, and a NaN its bits.
struct Expected {
  std::string tensor;
  std::vector<double> value;
  std::vector<double> tolerance;  ///< absolute, from the length of the sum and the type
  /// Elements that value and tolerance speak of, ascending; empty for all. An output of hundreds of
  /// megabytes has a sample of its values compared, and all of it must have been written.
  std::vector<std::size_t> index = {};
};

/// What a case needs of any implementation, for its roofline: floating-point operations by the GPU
/// peak they run against ("fp32", "bf16_tensor"), and the bytes that must cross DRAM at least once.
struct Work {
  std::map<std::string, double> flops;
  double compulsory_bytes = 0;
};

}  // namespace rooflab
