#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {
namespace {

using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

RooflineChart small_roofline() {
  return {"A100",
          {{"fp32", 19.5e12}},
          {{"DRAM", 1555e9}},
          {{"gemm", 170.5, 19.5e12, PointKind::predicted},
           {"gemm", 170.5, 0.1 + 0.2, PointKind::measured}}};
}

LatencyChart small_latency() {
  return {"Products", "M = N = K", {"512", "1024"}, {{"tiled", {0.1, kOutOfMemory}}}};
}

AttentionChart small_attention() {
  return {"Attention", {512, 1024}, {{"naive", {1, 4}}}, {{"naive", {1e6, kOutOfMemory}}}};
}

TEST(Json, HasTheDocumentedForm) {
  EXPECT_EQ(to_json(small_roofline()), R"({
  "chart": "roofline",
  "title": "A100",
  "roofs": [
    {
      "label": "fp32",
      "flops_per_second": 19500000000000.0
    }
  ],
  "memory": [
    {
      "label": "DRAM",
      "bytes_per_second": 1555000000000.0
    }
  ],
  "points": [
    {
      "label": "gemm",
      "intensity": 170.5,
      "flops_per_second": 19500000000000.0,
      "kind": "predicted"
    },
    {
      "label": "gemm",
      "intensity": 170.5,
      "flops_per_second": 0.30000000000000004,
      "kind": "measured"
    }
  ]
}
)");
}

TEST(Json, ReadsBackWhatItWrote) {
  const std::string roofline = to_json(small_roofline());
  EXPECT_EQ(to_json(roofline_from_json(roofline)), roofline);
  EXPECT_EQ(roofline_from_json(roofline).points[1].flops_per_second, 0.1 + 0.2);
  const std::string latency = to_json(small_latency());
  EXPECT_EQ(to_json(latency_from_json(latency)), latency);
  EXPECT_EQ(latency_from_json(latency).latency_ms[0].values[1], kOutOfMemory);
  const std::string attention = to_json(small_attention());
  EXPECT_EQ(to_json(attention_from_json(attention)), attention);
}

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Json, SaysWhatIsWrongWithHostileText) {
  const std::string good = to_json(small_roofline());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return fault_of([&] { roofline_from_json(text); });
  };
  EXPECT_THAT(fault_of([] { roofline_from_json(""); }), HasSubstr("not JSON"));
  EXPECT_THAT(fault_of([] { roofline_from_json("{\"chart\": \"roofl"); }), HasSubstr("not JSON"));
  EXPECT_THAT(fault_of([] { roofline_from_json("[1]"); }), HasSubstr("must be a JSON object"));
  EXPECT_THAT(fault_of([] { roofline_from_json("{\"chart\": 1e999}"); }),
              HasSubstr("out of range"));
  EXPECT_THAT(fault_of([] { roofline_from_json(std::string(100000, '[')); }),
              HasSubstr("not JSON"));
  EXPECT_THAT(with("\"roofline\"", "\"latency\""), HasSubstr("chart must be \"roofline\""));
  EXPECT_THAT(with("\"title\"", "\"name\""), HasSubstr("title is missing"));
  EXPECT_THAT(with("170.5", "\"170\""), HasSubstr("points[0].intensity must be a number"));
  EXPECT_THAT(with("170.5", "null"), HasSubstr("points[0].intensity must be a number"));
  EXPECT_THAT(with("\"measured\"", "\"guessed\""), HasSubstr("points[1].kind must be predicted"));
  EXPECT_THAT(with("\"intensity\": 170.5", "\"intensity\": 170.5, \"extra\": 1"),
              HasSubstr("points[0].extra is no key"));
  EXPECT_THAT(with("\"fp32\"", "\"\xff\""), HasSubstr("not JSON"));
  EXPECT_THAT(with("\"fp32\"", "\"a\\u0000b\""), HasSubstr("control character"));
  EXPECT_THAT(with("\"fp32\"", "\"" + std::string(1000, 'x') + "\""), HasSubstr("longer than"));
  EXPECT_THAT(with("19500000000000.0", "-1"), HasSubstr("must lie between"));
  EXPECT_THAT(fault_of([] { latency_from_json(to_json(small_attention())); }),
              HasSubstr("must be \"latency\""));
  EXPECT_THAT(fault_of([] {
                attention_from_json(
                    "{\"chart\":\"attention\",\"title\":\"a\","
                    "\"lengths\":[1.5]}");
              }),
              HasSubstr("lengths[0] must be a whole number"));
}

TEST(Json, IsReadInTimeHoweverManyKeysOrEntriesItHas) {
  std::string keys = "{";
  for (int i = 0; i < 100000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  keys.back() = '}';
  EXPECT_THAT(fault_of([&] { roofline_from_json(keys); }), HasSubstr("chart is missing"));
  RooflineChart many = small_roofline();
  many.points.assign(257, many.points[0]);
  EXPECT_THAT(fault_of([&] { to_json(many); }), HasSubstr("at most 256"));
}

/// What every writer says of a chart after `spoil`.
template <typename Chart>
void expect_refused(Chart chart, const std::function<void(Chart&)>& spoil, const char* words) {
  spoil(chart);
  EXPECT_THAT(fault_of([&] { to_json(chart); }), HasSubstr(words));
  EXPECT_THAT(fault_of([&] { to_csv(chart); }), HasSubstr(words));
  EXPECT_THAT(fault_of([&] { to_svg(chart); }), HasSubstr(words));
  const std::string stem = ::testing::TempDir() + "plot_refused";
  EXPECT_THAT(fault_of([&] { write(chart, stem); }), HasSubstr(words));
  EXPECT_NE(::access((stem + ".json").c_str(), F_OK), 0) << "nothing is written of it";
}

TEST(Check, RefusesWhatNoRooflineCanShow) {
  const auto refused = [](const std::function<void(RooflineChart&)>& spoil, const char* words) {
    expect_refused<RooflineChart>(small_roofline(), spoil, words);
  };
  refused([](auto& chart) { chart.title = ""; }, "the title is empty");
  refused([](auto& chart) { chart.title = "a\nb"; }, "control character");
  refused([](auto& chart) { chart.title = "\xc3("; }, "not UTF-8");
  refused([](auto& chart) { chart.roofs.clear(); }, "has no roofs");
  refused([](auto& chart) { chart.memory.clear(); }, "has no memory levels");
  refused([](auto& chart) { chart.roofs[0].flops_per_second = kNaN; },
          "flops_per_second of roof 1 (\"fp32\") is nan");
  refused([](auto& chart) { chart.memory[0].bytes_per_second = 0; },
          "bytes_per_second of memory level 1 (\"DRAM\") is 0");
  refused([](auto& chart) { chart.points[1].intensity = kInfinity; },
          "the intensity of point 2 (\"gemm\") is inf");
  refused([](auto& chart) { chart.points[1].flops_per_second = -3; },
          "flops_per_second of point 2 (\"gemm\") is -3");
  refused([](auto& chart) { chart.points[0].label = ""; }, "the label of point 1 is empty");
  refused([](auto& chart) { chart.points[0].kind = static_cast<PointKind>(7); },
          "the kind of point 1");
}

TEST(Check, RefusesWhatNoLatencyChartCanShow) {
  const auto refused = [](const std::function<void(LatencyChart&)>& spoil, const char* words) {
    expect_refused<LatencyChart>(small_latency(), spoil, words);
  };
  refused([](auto& chart) { chart.x.clear(); }, "has no sizes");
  refused([](auto& chart) { chart.x_label = ""; }, "x_label is empty");
  refused([](auto& chart) { chart.latency_ms.clear(); }, "has no latency_ms");
  refused([](auto& chart) { chart.latency_ms[0].values.pop_back(); }, "has 1 values for 2 sizes");
  refused([](auto& chart) { chart.latency_ms[0].values[0] = 0; },
          "value 1 of latency_ms 1 (\"tiled\") is 0");
  refused([](auto& chart) { chart.latency_ms[0].values[1] = kNaN; }, "is nan");
  refused([](auto& chart) { chart.latency_ms[0].values[1] = kInfinity; }, "is inf");
}

TEST(Check, RefusesWhatNoAttentionChartCanShow) {
  const auto refused = [](const std::function<void(AttentionChart&)>& spoil, const char* words) {
    expect_refused<AttentionChart>(small_attention(), spoil, words);
  };
  refused([](auto& chart) { chart.lengths[1] = 0; }, "length 2 is 0");
  refused([](auto& chart) { chart.memory_bytes[0].values[0] = -1; },
          "value 1 of memory_bytes 1 (\"naive\") is -1");
  refused([](auto& chart) { chart.memory_bytes.clear(); }, "has no memory_bytes");
}

/// Fields of each record, read as RFC 4180 says.
std::vector<std::vector<std::string>> read_csv(const std::string& csv) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (quoted) {
      if (csv[i] != '"') {
        record.back() += csv[i];
      } else if (i + 1 < csv.size() && csv[i + 1] == '"') {
        record.back() += csv[++i];
      } else {
        quoted = false;
      }
    } else if (csv[i] == '"') {
      quoted = true;
    } else if (csv[i] == ',') {
      record.emplace_back();
    } else if (csv.compare(i, 2, "\r\n") == 0) {
      records.push_back(record);
      record.assign(1, "");
      ++i;
    } else {
      record.back() += csv[i];
    }
  }
  EXPECT_EQ(record, std::vector<std::string>(1)) << "the last record ends with a line break";
  return records;
}

TEST(Csv, HoldsEveryNumberAndAnyLabel) {
  RooflineChart chart = small_roofline();
  chart.points[1].label = "gemm, \"tiled\" 4x4";
  EXPECT_THAT(read_csv(to_csv(chart)),
              ::testing::ElementsAre(
                  std::vector<std::string>{"element", "label", "kind", "intensity",
                                           "flops_per_second", "bytes_per_second"},
                  std::vector<std::string>{"roof", "fp32", "", "", "1.95e+13", ""},
                  std::vector<std::string>{"memory", "DRAM", "", "", "", "1.555e+12"},
                  std::vector<std::string>{"point", "gemm", "predicted", "170.5", "1.95e+13", ""},
                  std::vector<std::string>{"point", "gemm, \"tiled\" 4x4", "measured", "170.5",
                                           "0.30000000000000004", ""}));
}

TEST(Csv, HasALineForEachValueOfASeries) {
  EXPECT_EQ(to_csv(small_latency()),
            "M = N = K,label,latency_ms\r\n512,tiled,0.1\r\n1024,tiled,out of memory\r\n");
  EXPECT_EQ(to_csv(small_attention()),
            "quantity,length,label,value\r\nlatency_ms,512,naive,1\r\nlatency_ms,1024,naive,4\r\n"
            "memory_bytes,512,naive,1e+06\r\nmemory_bytes,1024,naive,out of memory\r\n");
}

class WriteTest : public ::testing::Test {
 protected:
  WriteTest() : folder_(::testing::TempDir() + "plot_write_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~WriteTest() override { std::filesystem::remove_all(folder_); }

  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(WriteTest, ReplacesThreeFilesAndLeavesNothingElse) {
  std::ofstream(folder_ / "latency.json") << "old";
  write(small_latency(), folder_ / "latency");
  EXPECT_EQ(text_of(folder_ / "latency.json"), to_json(small_latency()));
  EXPECT_EQ(text_of(folder_ / "latency.csv"), to_csv(small_latency()));
  EXPECT_EQ(text_of(folder_ / "latency.svg"), to_svg(small_latency()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 3);
}

TEST_F(WriteTest, AStemMayHaveADot) {
  write(small_latency(), folder_ / "gemm.v2");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "gemm.v2.svg"));
}

TEST_F(WriteTest, NamesTheFileThatCannotBeWritten) {
  std::filesystem::create_directories(folder_ / "taken.json" / "inside");
  try {
    write(small_latency(), folder_ / "taken");
    FAIL() << "a folder was replaced";
  } catch (const std::filesystem::filesystem_error& error) {
    EXPECT_EQ(error.path1(), folder_ / "taken.json");
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no leftovers";
}

}  // namespace
}  // namespace rooflab::plot
