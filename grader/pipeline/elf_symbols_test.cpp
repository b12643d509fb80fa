#include "grader/pipeline/elf_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::filesystem::path library(const std::string& name) {
  return std::filesystem::path(ROOFLAB_TESTDATA) / ("libgrade_" + name + ".so");
}

TEST(ElfSymbolsTest, TellsWhatALibraryImportsAndExports) {
  const DynamicSymbols plain = read_dynamic_symbols(library("plain"));
  EXPECT_THAT(plain.undefined, Contains("strlen"));
  EXPECT_THAT(plain.defined, Contains("rooflab_entry_scale"));
  EXPECT_THAT(plain.unresolved, IsEmpty());
}

TEST(ElfSymbolsTest, TellsWhatNoLibraryOffers) {
  EXPECT_THAT(read_dynamic_symbols(library("unresolved")).unresolved,
              ElementsAre("_Z12scale_valuesPKfi"));
}

TEST(ElfSymbolsTest, ForbiddenImportsMatchByExpression) {
  const DynamicSymbols symbols = read_dynamic_symbols(library("forbidden"));
  EXPECT_THAT(all_forbidden(symbols, {"^cublas", "Sgemm"}), ElementsAre("cublasSgemm_v2"));
  EXPECT_THAT(all_forbidden(symbols, {"^cudnn"}), IsEmpty());
  EXPECT_THAT(all_forbidden(read_dynamic_symbols(library("lookup")), {"^dlsym$"}),
              ElementsAre("dlsym"));
}

TEST(ElfSymbolsTest, WhatTheLinkerTookFromTheToolkitCanBeForbidden) {
  const DynamicSymbols symbols{.undefined = {"strlen"},
                               .defined = {"_ZN7rooflab8classifyEv"},
                               .unresolved = {},
                               .withheld = {}};
  EXPECT_THAT(all_forbidden(symbols, {"^_ZN7rooflab8classify"}),
              ElementsAre("_ZN7rooflab8classifyEv"));
  EXPECT_THAT(all_forbidden(symbols, {"^_Z8classify"}), IsEmpty());
}

TEST(ElfSymbolsTest, TheIndexOfAnArchiveTellsWhatItsMembersOffer) {
  using namespace std::string_literals;
  const std::string header = "!<arch>\n/               0           0     0     0       ";
  const std::string index = "\0\0\0\2\0\0\0\x60\0\0\0\x60"s + "_Z3addv\0_Z5scalev\0"s;
  const std::string archive = header + "30        `\n" + index;
  EXPECT_THAT(archive_symbols_in(archive), ElementsAre("_Z3addv", "_Z5scalev"));
  EXPECT_THAT(archive_symbols_in("!<arch>\n"), IsEmpty());
  EXPECT_THROW(archive_symbols_in("\x7f"
                                  "ELF"),
               ElfError);
  EXPECT_THROW(archive_symbols_in("!<arch>\nadd.o/          "), ElfError);
  for (std::size_t size = 9; size < archive.size(); ++size) {
    EXPECT_THROW(archive_symbols_in(archive.substr(0, size)), ElfError) << size;
  }
}

// std::regex takes stack for each character of what it searches.
TEST(ElfSymbolsTest, ANameOfAMillionCharactersIsSearchedAtItsBeginning) {
  const std::string long_name = "cublas_v" + std::string(1'000'000, '9');
  const DynamicSymbols symbols{
      .undefined = {}, .defined = {long_name}, .unresolved = {}, .withheld = {}};
  EXPECT_THAT(all_forbidden(symbols, {"^cublas"}), ElementsAre(long_name));
  EXPECT_THAT(all_forbidden(symbols, {"(.*x)?[a-z0-9_]+!", "^cudnn.*"}), IsEmpty());
}

TEST(ElfSymbolsTest, CountlessForbiddenSymbolsAreToldInAMoment) {
  DynamicSymbols symbols;
  for (int i = 0; i < 300'000; ++i) symbols.defined.push_back("cublas" + std::to_string(i));
  EXPECT_EQ(all_forbidden(symbols, {"^cublas"}).size(), 100U);
}

TEST(ElfSymbolsTest, FileThatIsNoLibraryIsRefused) {
  const TemporaryFolder folder(testing::TempDir());
  const auto file = folder.path() / "x.so";
  for (const std::string& text : {std::string(),
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(4096, 'x')}) {
    std::ofstream(file) << text;
    EXPECT_THROW(read_dynamic_symbols(file), ElfError);
  }
}

TEST(ElfSymbolsTest, DamagedLibrariesEndInAnErrorOrSymbolsNeverACrash) {
  const TemporaryFolder folder(testing::TempDir());
  const auto file = folder.path() / "x.so";
  const std::string good = read_file(library("plain"));
  std::mt19937 random(20);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    if (i % 5 == 0) bad.resize(random() % bad.size());
    // Header and section headers (at the file's end) hold the offsets that matter.
    for (int change = 0; change < 4 && !bad.empty(); ++change) {
      const std::size_t from_end = random() % std::min<std::size_t>(bad.size(), 2048);
      const std::size_t at = change % 2 == 0 ? random() % std::min<std::size_t>(bad.size(), 64)
                                             : bad.size() - 1 - from_end;
      bad[at] = static_cast<char>(random());
    }
    std::ofstream(file, std::ios::binary) << bad;
    try {
      const DynamicSymbols symbols = read_dynamic_symbols(file);
      EXPECT_LE(symbols.undefined.size() + symbols.defined.size(), bad.size());
    } catch (const ElfError&) {
    }
  }
}

}  // namespace
}  // namespace rooflab
