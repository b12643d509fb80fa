#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// Names of an archive's entries: most of them fine, the others after something.
inline std::string entry_name(Choices& choices) {
  switch (choices.below(8)) {
    case 0:
      return std::string(choices.of({"../a", "/a", "a/../../b", "C:\\a", "a\\..\\b", ".", "..", "",
                                     "a//b", "./a", "a/", "~/a", "a\nb", "\xff", "con", "a/./b"}));
    case 1:
      return awkward_text(choices, 512);
    case 2:
      return repeated("d/", choices.count(1U << 9) + 1) + "f";
    case 3:
      return repeated("n", choices.count(1U << 12) + 1);
    default:
      return std::string(choices.of({"part1-metrics/", "p/", ""})) +
             std::string(choices.of({"gemv.cu", "answers.toml", "a", "A", "b.cpp"}));
  }
}

/// A tar of POSIX 1003.1-1988 headers, with those of pax and GNU among them, each field of which
/// may be a lie; checksums are right.
class TarBytes {
 public:
  explicit TarBytes(Choices& choices) : choices_(choices) {}

  std::string bytes() {
    std::string tar;
    while (!choices_.is_empty() && tar.size() < kLongest) tar += entry();
    return tar + std::string(choices_.rarely(8) ? 0 : 1024, '\0');
  }

 private:
  static constexpr std::size_t kLongest = 1U << 18;
  static constexpr std::size_t kBlock = 512;

  std::string entry() {
    switch (choices_.below(8)) {
      case 0:  // pax
        return block("PaxHeader", 'x', pax_record("path", entry_name(choices_)));
      case 1:
        return block(
            "PaxHeader", choices_.coin() ? 'x' : 'g',
            pax_record(
                std::string(choices_.of({"size", "mtime", "linkpath", "GNU.sparse.major",
                                         "GNU.sparse.map", "hdrcharset", "SCHILY.xattr.a"})),
                std::string(choices_.of({"1", "-1", "9e9", "18446744073709551615", "x", ""}))));
      case 2:  // GNU's long name
        return block("././@LongLink", choices_.coin() ? 'L' : 'K', entry_name(choices_) + '\0');
      case 3:
        return block(entry_name(choices_),
                     choices_.of({"1", "2", "3", "4", "5", "6", "S", "V", "M", "7"})[0], "");
      default:
        return block(entry_name(choices_), choices_.coin() ? '0' : '\0',
                     awkward_text(choices_, 2048));
    }
  }

  static std::string pax_record(const std::string& key, const std::string& value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + std::to_string(rest).size();
    length = rest + std::to_string(length).size();
    return std::to_string(length) + " " + key + "=" + value + "\n";
  }

  std::string block(const std::string& name, char type, const std::string& content) {
    std::string header(kBlock, '\0');
    const auto put = [&header](std::size_t at, std::size_t room, std::string_view text) {
      text = text.substr(0, room);
      header.replace(at, text.size(), text);
    };
    const auto octal = [](std::uint64_t value, int digits) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%0*llo", digits,
                    static_cast<unsigned long long>(value));
      return std::string(text.data());
    };
    const std::uint64_t size =
        choices_.rarely(16) ? choices_.number() >> choices_.below(64) : content.size();
    put(0, 100, name);
    put(100, 8, octal(choices_.rarely(8) ? 07777 : 0644, 7));
    put(124, 12,
        choices_.rarely(32) ? std::string("\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12)
                            : octal(size, 11));
    put(136, 12, octal(1'700'000'000, 11));
    header[156] = type;
    put(157, 100, choices_.rarely(4) ? entry_name(choices_) : "");
    put(257, 8, choices_.rarely(8) ? "ustar  " : std::string_view("ustar\00000", 8));
    put(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, 8, octal(choices_.rarely(32) ? sum + 1 : sum, 6) + std::string("\0 ", 2));
    const std::size_t padding = (kBlock - content.size() % kBlock) % kBlock;
    return header + content + std::string(padding, '\0');
  }

  Choices& choices_;
};

/// A zip of stored entries, whose central directory, local headers and end may contradict each
/// other.
class ZipBytes {
 public:
  explicit ZipBytes(Choices& choices) : choices_(choices) {}

  std::string bytes() {
    std::string zip(choices_.rarely(8) ? awkward_text(choices_, 64) : "");
    std::string directory;
    std::uint16_t entries = 0;
    while (!choices_.is_empty() && zip.size() < kLongest) {
      directory += add_entry(zip);
      ++entries;
    }
    const auto at = static_cast<std::uint32_t>(zip.size());
    zip += directory;
    return zip + "PK\5\6" + little(0, 4) + little(lie(entries), 2) + little(lie(entries), 2) +
           little(lie(directory.size()), 4) + little(lie(at), 4) + little(0, 2);
  }

 private:
  static constexpr std::size_t kLongest = 1U << 17;

  static std::string little(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  std::uint64_t lie(std::uint64_t truth) {
    return choices_.rarely(32) ? choices_.number() >> choices_.below(64) : truth;
  }

  static std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0);
    }
    return ~crc;
  }

  /// Appends the entry. @return its line of the central directory
  std::string add_entry(std::string& zip) {
    const std::string name = entry_name(choices_).substr(0, 0xFFFF);
    const std::string content = awkward_text(choices_, 2048);
    const std::string other = choices_.rarely(16) ? entry_name(choices_).substr(0, 0xFFFF) : name;
    const std::uint64_t flags = choices_.rarely(8) ? choices_.number(2) : 0x800;
    const std::uint64_t method = choices_.rarely(16) ? choices_.below(100) : 0;
    const std::string extra = choices_.rarely(16) ? awkward_text(choices_, 64) : "";
    const std::string common = little(flags, 2) + little(method, 2) + little(0, 2) +
                               little(0x5821, 2) + little(lie(crc32(content)), 4) +
                               little(lie(content.size()), 4) + little(lie(content.size()), 4);
    const std::uint64_t at = lie(zip.size());
    zip += "PK\3\4" + little(20, 2) + common + little(other.size(), 2) + little(extra.size(), 2) +
           other + extra + content;
    const std::uint64_t mode = choices_.rarely(8) ? choices_.number(2) : 0100644;
    return "PK\1\2" + little(0x031E, 2) + little(20, 2) + common + little(name.size(), 2) +
           little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(mode << 16, 4) +
           little(at, 4) + name;
  }

  Choices& choices_;
};

}  // namespace simgpu::fuzzing
