#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grader/diagnose/diagnose.h"
#include "simgpu/report.h"

/// Pieces that every story is put together from.
namespace rooflab {

/// A story with its commands (next hint, this case, concept) filled in, still without a cause.
Diagnostic begin_story(Code code, const DiagnoseContext& context);

/// The place of `line` in the task's file, with the text of that line; `file` may be a path from
/// the build.
Label label_at(const std::string& file, std::uint32_t line, std::uint32_t column,
               const std::string& text, const DiagnoseContext& context);

/// Path of a file of the build relative to the submission: what the student calls it.
std::string student_path(const std::string& file, const DiagnoseContext& context);

/// "3 of 4 elements"; for a hidden case "some elements" or "all elements", since a total tells its
/// size.
std::string count_text(std::uint64_t count, std::uint64_t total, const DiagnoseContext& context);

/// The end of a matrix, when exactly that is wrong: all rows, or all columns, from `first` on.
struct WrongTail {
  bool rows = false;  ///< else columns
  std::int64_t first = 0;
};
std::optional<WrongTail> wrong_tail(const TensorCheck& check);

/// "C[3][17]" for an element of a row-major tensor.
std::string element_name(const TensorCheck& check, std::size_t element);

/// A value as a reader expects it; every NaN is "NaN", whatever its sign.
std::string number_text(double value, int digits = 6);

/// "(3,0)" or "(3,0,1)": z only when it is not zero.
std::string coordinates(const simgpu::Dim3& index);

/// Says, once, that a hidden case shows no sizes and values.
void note_hidden(Diagnostic& story);

/// Which elements are wrong, as evidence lines and a small map, added to `story`.
void add_effect(Diagnostic& story, const TensorCheck& check, const DiagnoseContext& context);

/// "gemm_tiled" for "(anonymous namespace)::gemm_tiled(float const*, …)".
std::string kernel_name(const std::string& demangled);

}  // namespace rooflab
