#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// ELF-64 files (System V gABI, chapters 4 and 5): sections of the names and types that a reader
/// looks for, with tables of symbols, relocations and NVIDIA's attributes in them, any number of
/// which may be a lie.
class ElfBytes {
 public:
  /// @param section_names that the reader knows, and symbol_names
  ElfBytes(Choices& choices, std::span<const std::string_view> section_names,
           std::span<const std::string_view> symbol_names)
      : choices_(choices), section_names_(section_names), symbol_names_(symbol_names) {}

  std::string bytes() {
    names_ = std::string(1, '\0');
    std::vector<Section> sections = {{}};
    const std::size_t count = choices_.below(12) + 2;
    for (std::size_t i = 0; i < count; ++i) sections.push_back(section());
    sections.push_back({.name = offset_of(".shstrtab"), .type = 3, .contents = names_});
    sections.back().contents = names_;
    return laid_out(sections);
  }

 private:
  struct Section {
    std::uint64_t name = 0;
    std::uint64_t type = 0;
    std::string contents = {};
    std::uint64_t flags = 2;
    std::uint64_t link = 0;
    std::uint64_t info = 0;
  };

  static std::string little(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  std::uint64_t lie(std::uint64_t truth) {
    return choices_.rarely(48) ? choices_.number() >> choices_.below(64) : truth;
  }

  /// Every name of the file stands in one table.
  std::uint64_t offset_of(std::string_view name) {
    const std::uint64_t offset = names_.size();
    names_ += name;
    names_ += '\0';
    return offset;
  }

  std::uint64_t symbol_name() {
    std::string name(choices_.of(symbol_names_));
    if (choices_.rarely(4)) name += repeated("9", choices_.count(1U << 15));
    return offset_of(name);
  }

  Section section() {
    Section section;
    section.name = offset_of(std::string(choices_.of(section_names_)) +
                             std::string(choices_.rarely(4) ? choices_.of(symbol_names_) : ""));
    section.type =
        choices_.rarely(8) ? choices_.number(4) : kTypes[choices_.below(std::size(kTypes))];
    section.flags = choices_.below(8);
    section.link = choices_.below(16);
    section.info = choices_.coin() ? choices_.below(16) : choices_.number(4);
    switch (section.type) {
      case 2:
      case 11:
        for (std::size_t left = choices_.count(1U << 12) + 1; left > 0; --left)
          section.contents += symbol();
        break;
      case 4:
        for (std::size_t left = choices_.count(1U << 12) + 1; left > 0; --left)
          section.contents += relocation();
        break;
      case 3:
        section.contents = names_;
        break;
      default:
        for (std::size_t left = choices_.count(1U << 10); left > 0; --left)
          section.contents += attribute();
        section.contents += choices_.raw(64);
    }
    return section;
  }

  std::string symbol() {
    return little(lie(symbol_name()), 4) + little(choices_.below(256), 1) +
           little(choices_.below(256), 1) +
           little(choices_.rarely(8) ? choices_.number(2) : choices_.below(16), 2) +
           little(choices_.number(2), 8) + little(choices_.number(2), 8);
  }

  std::string relocation() {
    return little(choices_.number(2), 8) + little(choices_.below(8), 4) +
           little(lie(choices_.below(16)), 4) + little(choices_.number(1), 8);
  }

  /// Of .nv.info: a format, a number, a length, and a symbol with an amount.
  std::string attribute() {
    const std::uint64_t numbers[] = {0x11, 0x12, 0x2F, choices_.below(256)};
    return little(choices_.rarely(8) ? choices_.below(256) : 4, 1) +
           little(numbers[choices_.below(4)], 1) + little(lie(8), 2) +
           little(choices_.below(16), 4) + little(lie(choices_.below(256)), 4);
  }

  std::string laid_out(const std::vector<Section>& sections) {
    constexpr std::uint64_t kHeader = 64;
    std::string body, table;
    for (const Section& section : sections) {
      const std::uint64_t at = kHeader + body.size();
      table += little(section.name, 4) + little(section.type, 4) + little(section.flags, 8) +
               little(0, 8) + little(lie(at), 8) + little(lie(section.contents.size()), 8) +
               little(section.link, 4) + little(section.info, 4) + little(1, 8) + little(24, 8);
      body += section.contents;
    }
    std::string header =
        "\x7f"
        "ELF" +
        std::string("\2\1\1\0\0\0\0\0\0\0\0\0", 12) + little(choices_.coin() ? 3 : 1, 2) +
        little(62, 2) + little(1, 4) + little(0, 8) + little(0, 8) +
        little(lie(kHeader + body.size()), 8) + little(0, 4) + little(64, 2) + little(56, 2) +
        little(0, 2) + little(64, 2) + little(lie(sections.size()), 2) +
        little(lie(sections.size() - 1), 2);
    return header + body + table;
  }

  static constexpr std::uint64_t kTypes[] = {1, 2, 3, 4, 8, 11, 18, 0x6FFFFFFF, 0x70000000};

  Choices& choices_;
  std::span<const std::string_view> section_names_;
  std::span<const std::string_view> symbol_names_;
  std::string names_;
};

}  // namespace simgpu::fuzzing
