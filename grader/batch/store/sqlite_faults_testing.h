#pragma once

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace rooflab {

/// Lets SQLite's own calls of the operating system fail for as long as it lives: `call` is "write",
/// "open", "unlink" or "ftruncate". One at a time.
class SqliteFaults {
 public:
  /// From the `first` call, counted from 0, to the last or so many.
  SqliteFaults(std::string_view call, int error, int first, int times = 1'000'000)
      : call_(call), error_(error), first_(first), times_(times) {
    now_ = this;
    set("open", &open);
    set("unlink", &unlink);
    set("ftruncate", &ftruncate);
    set("write", &write);
    set("pwrite", &pwrite);
    set("pwrite64", &pwrite);
  }
  ~SqliteFaults() {
    for (const char* name : {"open", "unlink", "ftruncate", "write", "pwrite", "pwrite64"}) {
      vfs_->xSetSystemCall(vfs_, name, nullptr);
    }
    now_ = nullptr;
  }
  SqliteFaults(const SqliteFaults&) = delete;
  SqliteFaults& operator=(const SqliteFaults&) = delete;

  bool reached() const { return count_ > first_; }

 private:
  template <typename Function>
  void set(const char* name, Function* function) {
    vfs_->xSetSystemCall(vfs_, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
  }

  static bool fails(std::string_view call) {
    if (now_->call_ != call) return false;
    const int at = now_->count_++;
    if (at < now_->first_ || at - now_->first_ >= now_->times_) return false;
    errno = now_->error_;
    return true;
  }

  static int open(const char* path, int flags, int mode) {
    return fails("open") ? -1 : ::open(path, flags, mode);
  }
  static int unlink(const char* path) { return fails("unlink") ? -1 : ::unlink(path); }
  static int ftruncate(int file, off_t size) {
    return fails("ftruncate") ? -1 : ::ftruncate(file, size);
  }
  static ssize_t write(int file, const void* bytes, std::size_t size) {
    return fails("write") ? -1 : ::write(file, bytes, size);
  }
  static ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
    return fails("write") ? -1 : ::pwrite(file, bytes, size, offset);
  }

  static inline SqliteFaults* now_ = nullptr;
  sqlite3_vfs* vfs_ = sqlite3_vfs_find("unix");
  std::string_view call_;
  int error_, first_, times_;
  int count_ = 0;
};

/// Ends this process, as `kill -9` does, at SQLite's next write but so many.
class KillAtWrite {
 public:
  explicit KillAtWrite(int writes) {
    left_ = writes;
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    for (const char* name : {"pwrite", "pwrite64"}) {
      vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(&pwrite));
    }
    vfs->xSetSystemCall(vfs, "write", reinterpret_cast<sqlite3_syscall_ptr>(&write));
  }
  KillAtWrite(const KillAtWrite&) = delete;
  KillAtWrite& operator=(const KillAtWrite&) = delete;

 private:
  static void die_in_time() {
    if (left_-- == 0) raise(SIGKILL);
  }
  static ssize_t write(int file, const void* bytes, std::size_t size) {
    die_in_time();
    return ::write(file, bytes, size);
  }
  static ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
    die_in_time();
    return ::pwrite(file, bytes, size, offset);
  }
  static inline int left_ = 0;
};

}  // namespace rooflab
