#include "simgpu/toolchain/code_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace simgpu::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x31'63'75'70'67'6d'69'73;  // "simgpuc1"
constexpr std::uint64_t kMostObjectBytes = std::uint64_t{64} << 20;

/// In front of the key and the object.
struct FileHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t key_bytes = 0, object_bytes = 0;
  std::uint64_t hash[2] = {};  ///< of key and object
};

using Hash = std::array<std::uint64_t, 2>;

/// As FNV-1a of 128 bits, but of words, not of bytes: it is a part of each start. Finds damage;
/// whoever can write the folder could forge any hash.
class Hasher {
 public:
  void add(std::string_view text) {
    add(text.size());
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
      add(word);
    }
  }
  Hash value() const {
    return {static_cast<std::uint64_t>(hash_ >> 64), static_cast<std::uint64_t>(hash_)};
  }

 private:
  void add(std::uint64_t word) {
    hash_ ^= word;
    hash_ *= kPrime;
  }

  __extension__ using Wide = unsigned __int128;
  static constexpr Wide kPrime = Wide{1} << 88 | 0x13b;
  Wide hash_ = Wide{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Hash hash_of(std::string_view key, std::span<const std::byte> object) {
  Hasher hasher;
  hasher.add(key);
  hasher.add(text_of(object));
  return hasher.value();
}

bool is_ours(const struct stat& status, mode_t type, mode_t others) {
  return (status.st_mode & S_IFMT) == type && status.st_uid == geteuid() &&
         (status.st_mode & others) == 0;
}

/// The file's bytes when it belongs to this user, nobody else can write to it, and it is no larger
/// than any that was ever kept.
std::optional<std::string> read_own_file(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  struct stat status {};
  if (fstat(file, &status) == 0 && is_ours(status, S_IFREG, S_IWGRP | S_IWOTH) &&
      status.st_size > 0 && static_cast<std::uint64_t>(status.st_size) <= 2 * kMostObjectBytes) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t at = 0;
    while (at < text->size()) {
      const ssize_t got = read(file, text->data() + at, text->size() - at);
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    if (at < text->size()) text.reset();
    futimens(file, nullptr);  // used: the last to be removed
  }
  close(file);
  return text;
}

}  // namespace

CodeCache::CodeCache(fs::path folder, std::uintmax_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

void CodeCache::make_folder() const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_.parent_path(), ignored);
  mkdir(folder_.c_str(), 0700);
}

fs::path CodeCache::default_folder(std::string_view name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return fs::path(cache) / "simgpu" / name;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return fs::path(home) / ".cache" / "simgpu" / name;
  return {};
}

bool CodeCache::usable() const {
  struct stat status {};
  return !folder_.empty() && lstat(folder_.c_str(), &status) == 0 &&
         is_ours(status, S_IFDIR, S_IRWXG | S_IRWXO);
}

fs::path CodeCache::work_folder() const {
  make_folder();
  if (!usable()) return fs::temp_directory_path();
  remove_left_behind();
  return folder_;
}

/// Folders of processes that were ended while they compiled.
void CodeCache::remove_left_behind() const {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && entry.last_write_time(ignored) < old) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

fs::path CodeCache::path_of(std::string_view key) const {
  const Hash hash = hash_of(key, {});
  return folder_ / fmt::format("{:016x}{:016x}", hash[0], hash[1]);
}

std::optional<std::vector<std::byte>> CodeCache::find(std::string_view key) const {
  if (!usable()) return std::nullopt;
  const std::optional<std::string> text = read_own_file(path_of(key));
  FileHeader header;
  if (!text || text->size() < sizeof header) return std::nullopt;
  std::memcpy(&header, text->data(), sizeof header);
  const std::string_view rest = std::string_view(*text).substr(sizeof header);
  if (header.magic != kMagic || header.key_bytes != key.size() ||
      header.object_bytes > kMostObjectBytes ||
      rest.size() != header.key_bytes + header.object_bytes || rest.substr(0, key.size()) != key) {
    return std::nullopt;
  }
  const auto object = std::as_bytes(std::span(rest.substr(key.size())));
  if (hash_of(key, object) != Hash{header.hash[0], header.hash[1]}) return std::nullopt;
  return std::vector<std::byte>(object.begin(), object.end());
}

void CodeCache::keep(std::string_view key, std::span<const std::byte> object) const {
  make_folder();
  if (!usable() || object.size() > kMostObjectBytes || key.size() > kMostObjectBytes) return;
  const Hash hash = hash_of(key, object);
  const FileHeader header{
      .key_bytes = key.size(), .object_bytes = object.size(), .hash = {hash[0], hash[1]}};
  std::string name = (folder_ / "new-XXXXXX").string();
  const int file = mkstemp(name.data());  // of mode 0600
  if (file < 0) return;
  std::string text(sizeof header, '\0');
  std::memcpy(text.data(), &header, sizeof header);
  text += key;
  text += text_of(object);
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!whole || rename(name.c_str(), path_of(key).c_str()) != 0) unlink(name.c_str());
  remove_oldest();
}

void CodeCache::remove_oldest() const {
  struct Kept {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.is_regular_file(error)) continue;
    all.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
    bytes += all.back().bytes;
  }
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& kept : all) {
    if (bytes <= most_bytes_) break;
    fs::remove(kept.path, error);
    bytes -= kept.bytes;
  }
}

}  // namespace simgpu::toolchain
