#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

/// Archives for tests, written by libarchive.
namespace rooflab::testing {

enum class Format { zip, tar, tar_gz, tar_xz, gz };  // gz: one file's bytes alone

class ArchiveWriter {
 public:
  explicit ArchiveWriter(Format format) : writer_(archive_write_new()) {
    check(format == Format::zip  ? archive_write_set_format_zip(writer_.get())
          : format == Format::gz ? archive_write_set_format_raw(writer_.get())
                                 : archive_write_set_format_pax_restricted(writer_.get()));
    if (format == Format::tar_gz || format == Format::gz)
      check(archive_write_add_filter_gzip(writer_.get()));
    if (format == Format::tar_xz) check(archive_write_add_filter_xz(writer_.get()));
    archive_write_set_bytes_in_last_block(writer_.get(), 1);
    check(archive_write_open(writer_.get(), this, nullptr, append, nullptr));
  }

  ArchiveWriter& file(const std::string& name, const std::string& contents,
                      std::int64_t modified = 1'700'000'000) {
    Entry entry = begin(name, AE_IFREG, modified);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(contents.size()));
    check(archive_write_header(writer_.get(), entry.get()));
    archive_write_data(writer_.get(), contents.data(), contents.size());
    return *this;
  }
  ArchiveWriter& symbolic_link(const std::string& name, const std::string& target) {
    Entry entry = begin(name, AE_IFLNK);
    archive_entry_set_symlink(entry.get(), target.c_str());
    check(archive_write_header(writer_.get(), entry.get()));
    return *this;
  }
  ArchiveWriter& hard_link(const std::string& name, const std::string& target) {
    Entry entry = begin(name, AE_IFREG);
    archive_entry_set_hardlink(entry.get(), target.c_str());
    check(archive_write_header(writer_.get(), entry.get()));
    return *this;
  }
  /// A folder, pipe or device: AE_IFDIR, AE_IFIFO, AE_IFCHR …
  ArchiveWriter& special(const std::string& name, unsigned type) {
    Entry entry = begin(name, type);
    check(archive_write_header(writer_.get(), entry.get()));
    return *this;
  }
  std::string bytes() {
    check(archive_write_close(writer_.get()));
    return bytes_;
  }

 private:
  struct Free {
    void operator()(archive* writer) const { archive_write_free(writer); }
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
  };
  using Entry = std::unique_ptr<archive_entry, Free>;

  static la_ssize_t append(archive*, void* self, const void* bytes, std::size_t size) {
    static_cast<ArchiveWriter*>(self)->bytes_.append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }
  void check(int status) {
    if (status >= ARCHIVE_WARN) return;
    throw std::runtime_error(archive_error_string(writer_.get()));
  }
  static Entry begin(const std::string& name, unsigned type,
                     std::int64_t modified = 1'700'000'000) {
    Entry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), type);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), modified, 0);
    return entry;
  }

  std::unique_ptr<archive, Free> writer_;
  std::string bytes_;
};

}  // namespace rooflab::testing
