#include "grader/batch/outputs/zip_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::int64_t kTime = 315'532'800;  // 1980-01-01, the first that a zip archive knows

struct Free {
  void operator()(archive* writer) const { archive_write_free(writer); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append(archive* /*writer*/, void* bytes, const void* data, std::size_t size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

bool is_program(const std::string& path) {
  const std::filesystem::path extension = std::filesystem::path(path).extension();
  return extension.empty() || extension == ".sh";
}

}  // namespace

std::string zip_file(const std::map<std::string, std::string>& files) {
  std::string bytes;
  const std::unique_ptr<archive, Free> writer(archive_write_new());
  const auto require = [&](la_ssize_t result) {
    if (result >= ARCHIVE_OK) return;
    const char* why = archive_error_string(writer.get());
    throw FileError(
        fmt::format("cannot make a zip archive: {}; free some memory and write the outputs again",
                    why == nullptr ? "no reason is known" : why));
  };
  require(archive_write_set_format_zip(writer.get()));
  require(archive_write_set_bytes_in_last_block(writer.get(), 1));
  require(archive_write_open(writer.get(), &bytes, nullptr, append, nullptr));
  for (const auto& [path, content] : files) {
    const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), path.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), is_program(path) ? 0755 : 0644);
    archive_entry_set_mtime(entry.get(), kTime, 0);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    require(archive_write_header(writer.get(), entry.get()));
    require(archive_write_data(writer.get(), content.data(), content.size()));
  }
  require(archive_write_close(writer.get()));
  return bytes;
}

}  // namespace rooflab
