#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// The most bytes of a request's text.
inline constexpr std::size_t kLongestRequest = 10'000;

struct RequestImport {
  std::size_t added = 0;
  std::size_t known = 0;             ///< were imported before, and stay as they are
  std::vector<std::string> refused;  ///< "requests.csv:3: …": the others are kept
};

/// Keeps the regrade requests of a file: a table with the columns student, part and why, and, where
/// there are any, task (of the part; the part as a whole when left out) and by (who asks; the
/// student when left out). A file whose name ends with .toml has the same as
///
///     [[request]]
///     student = "ada"
///     part = 1
///     task = "gemm_tiled"
///     why = "…"
///
/// Each request is kept whole or refused, so the same file can be given again once it is mended.
/// @param name of the file, for messages
/// @throws BatchError, CsvError or SpecError when the file as a whole cannot be read
RequestImport import_regrade_requests(Store& store, const Course& course, std::string_view text,
                                      const std::string& name, std::int64_t now);

/// A request as somebody wrote it, made safe to keep.
/// @param where stands before messages
/// @throws BatchError for a task that the part does not have, and for a text that is empty or long
void check_request_words(const PartSpec& part, std::string& task, std::string& why,
                         const std::string& where);

}  // namespace rooflab
