/// plot: draws a chart from the JSON that plot::write() made.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "labs/toolkit/plot/plot.h"

namespace plot = rooflab::plot;

namespace {

struct Request {
  std::string json_file, svg_file, csv_file;
};

std::string read_all(const std::string& name) {
  std::ifstream file;
  if (name != "-") {
    file.open(name, std::ios::binary);
    if (!file) throw std::runtime_error(name + " cannot be read");
  }
  std::istream& input = name == "-" ? std::cin : file;
  return {std::istreambuf_iterator<char>(input), {}};
}

void write_all(const std::string& name, const std::string& text) {
  std::ofstream file;
  if (name != "-") file.open(name, std::ios::binary);
  std::ostream& output = name == "-" ? std::cout : file;
  output << text << std::flush;
  if (!output) throw std::runtime_error(name + " cannot be written");
}

template <typename Chart>
void draw(const Chart& chart, const Request& request) {
  if (!request.svg_file.empty()) write_all(request.svg_file, plot::to_svg(chart));
  if (!request.csv_file.empty()) write_all(request.csv_file, plot::to_csv(chart));
}

/// Which of the charts the text says that it is; the readers say what else is wrong with it.
std::string kind_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("chart") || !json["chart"].is_string()) return {};
  return json["chart"].get<std::string>();
}

void run(const Request& request) {
  const std::string text = read_all(request.json_file);
  const std::string kind = kind_of(text);
  if (kind == "roofline") return draw(plot::roofline_from_json(text), request);
  if (kind == "latency") return draw(plot::latency_from_json(text), request);
  if (kind == "attention") return draw(plot::attention_from_json(text), request);
  throw std::invalid_argument(request.json_file +
                              ": \"chart\" must be \"roofline\", \"latency\" or \"attention\"");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Draws a chart from its JSON.", "plot");
  Request request;
  app.add_option("json", request.json_file, "the chart; - reads standard input")->required();
  auto* outputs = app.add_option_group("outputs")->require_option(1, 2);
  outputs->add_option("--svg", request.svg_file, "the picture; - writes it to standard output");
  outputs->add_option("--csv", request.csv_file, "the numbers; - writes them to standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    run(request);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plot: %s\n", error.what());
    return 2;
  }
}
