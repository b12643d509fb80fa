// rooflab-unpack: reads what a student handed in, in a process that ends with it.
//
//     rooflab-unpack ARCHIVE OUT_FOLDER      writes the archive's plain files into an empty folder,
//                                            or nothing at all
//     rooflab-unpack --student-file FILE     prints a student.toml's id, name and email as lines
//
// The file may be -, the standard input. Exits 0, 1 when the file is refused (why stands on the
// standard output), 2 for wrong usage, 3 when a file could not be read or written.
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "grader/batch/unpack/read_archive.h"
#include "grader/batch/unpack/student_file.h"

namespace {

constexpr std::size_t kLargestArchive = std::size_t{64} << 20;

/// Closes what it was given.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::system_error system_error(const char* what) { return {errno, std::generic_category(), what}; }

std::string read_all(const std::string& name) {
  const File file(name == "-" ? STDIN_FILENO
                              : open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) throw system_error("the file cannot be read");
  std::string bytes;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = read(file.get(), buffer.data(), buffer.size());
    if (count == 0) return bytes;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("the file cannot be read");
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > kLargestArchive) {
      throw rooflab::ArchiveError("it is larger than 64 MiB; pack only what was asked for");
    }
  }
}

void write_file(const std::filesystem::path& path, const rooflab::ArchiveFile& from) {
  std::filesystem::create_directories(path.parent_path());
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0) throw system_error("a file cannot be written");
  for (std::size_t done = 0; done < from.contents.size();) {
    const ssize_t count =
        write(file.get(), from.contents.data() + done, from.contents.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("a file cannot be written");
    done += static_cast<std::size_t>(count);
  }
  if (from.modified) {
    const timespec time{static_cast<time_t>(*from.modified), 0};
    const timespec times[2] = {time, time};
    futimens(file.get(), times);  // a time that the file system does not take is no harm
  }
}

void unpack(const std::string& archive, const std::filesystem::path& folder) {
  const std::string bytes = read_all(archive);
  for (const rooflab::ArchiveFile& file : rooflab::read_archive(bytes)) {
    write_file(folder / file.path, file);
  }
}

void print_student_file(const std::string& name) {
  const rooflab::StudentFileText file = rooflab::parse_student_file(read_all(name));
  std::printf("%s\n%s\n%s\n", file.id.c_str(), file.name.c_str(), file.email.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs(
        "usage: rooflab-unpack ARCHIVE OUT_FOLDER\n"
        "       rooflab-unpack --student-file FILE\n",
        stderr);
    return 2;
  }
  setlocale(LC_CTYPE, "C.UTF-8");  // else libarchive takes names in UTF-8 for broken ones
  setenv("TZ", "UTC0", 1);         // zip has local times: the same on every machine
  try {
    if (std::string(argv[1]) == "--student-file") {
      print_student_file(argv[2]);
    } else {
      unpack(argv[1], argv[2]);
    }
    return 0;
  } catch (const rooflab::ArchiveError& error) {
    std::printf("%s\n", error.what());
    return 1;
  } catch (const rooflab::StudentFileError& error) {
    std::printf("%s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}
