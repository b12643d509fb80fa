#include "grader/author/kit_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "grader/author/course_pages.h"
#include "grader/author/kit_update.h"
#include "grader/contract/cuda_libraries.h"
#include "grader/spec/files.h"
#include "grader/spec/group_hints.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

using Chooser = std::function<bool(const fs::path&)>;

/// Whether a file's name ends with one of these.
Chooser ending(std::set<std::string> endings) {
  return [endings = std::move(endings)](const fs::path& file) {
    return endings.contains(file.extension().string());
  };
}

bool has_folder(const fs::path& file, const std::string& name) {
  return std::ranges::find(file, fs::path(name)) != file.end();
}

/// Headers and sources of the toolkit, without its tests.
bool is_toolkit_source(const fs::path& file) {
  static const Chooser code = ending({".h", ".cuh", ".cpp", ".cu"});
  return code(file) && !file.stem().string().ends_with("_test") && !has_folder(file, "testing");
}

class KitList {
 public:
  KitList(const fs::path& root, const fs::path& build, const std::vector<int>& parts)
      : root_(root), build_(build), parts_(parts) {}

  std::vector<KitFile> make() {
    add_texts();
    add_programs();
    for (const int number : parts_) add_part(number);
    std::ranges::sort(files_, {}, &KitFile::to);
    for (const KitFile& file : files_) {
      if (fs::exists(file.from)) continue;
      throw ReleaseError(fmt::format(
          "{} is missing; build what a kit holds, by cmake --build build --target teaching, "
          "or restore the checkout",
          file.from.string()));
    }
    return std::move(files_);
  }

 private:
  void add(const fs::path& from, const fs::path& to, KitFile::Kind kind = KitFile::Kind::text) {
    files_.push_back({from, to, kind});
  }

  bool has_part(int number) const { return std::ranges::find(parts_, number) != parts_.end(); }

  bool is_of_kit(const fs::path& path) const {
    return is_there(path.string(), [this](int part) { return has_part(part); });
  }

  /// An example may be compiled with the headers of a part.
  bool has_its_headers(const fs::path& example) const {
    const std::string text = read_file(root_ / example);
    for (std::size_t at = text.find("labs/part"); at != std::string::npos;
         at = text.find("labs/part", at + 1)) {
      const auto part = part_of_path(text.substr(at, text.find('-', at) + 1 - at));
      if (part && !has_part(*part)) return false;
    }
    return true;
  }

  /// Files of the checkout below a folder, under the same path in the kit, or in a folder of it.
  void add_folder(const fs::path& folder, const Chooser& choose, const fs::path& below = {}) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / folder, error)) {
      const fs::path path = entry.path().lexically_relative(root_);
      if (!entry.is_regular_file() || !choose(path) || !is_of_kit(path)) continue;
      add(entry.path(), below / path,
          path.extension() == ".md" ? KitFile::Kind::page : KitFile::Kind::text);
    }
  }

  void add_texts() {
    const auto all = [](const fs::path& file) { return !is_note_of_student(file); };
    add(root_ / "LICENSE", "LICENSE");
    add(root_ / "docs/kit/README.md", "README.md", KitFile::Kind::filled);
    for (const char* script : {"demo", "setup"}) {
      add(root_ / "docs/kit" / script, fs::path("scripts") / script, KitFile::Kind::script);
    }
    add(root_ / "scripts/setup_common", "scripts/setup_common");
    add_dev_container();
    add_folder("labs/toolkit", is_toolkit_source);
    // A calibration is of the GPU of whoever made the kit.
    add_folder("specs", [of_text = ending({".toml", ".json"})](const fs::path& file) {
      return of_text(file) && file.parent_path().filename() != "calibrated";
    });
    // What students edit: a kit that is unpacked over an older one must not touch theirs.
    add_folder("starter", all, kOriginals);
    // Programs that handouts and README.md run, and that students try things in.
    add_folder(
        "docs/examples",
        [this, is_program = ending({".cu"})](const fs::path& file) {
          return is_program(file) && has_its_headers(file);
        },
        kOriginals);
    // Editors' settings are a student's own as soon as one is changed.
    add(root_ / "docs/kit/vscode/tasks.json", fs::path(kOriginals) / ".vscode/tasks.json");
    // So are notebooks, as soon as a cell has run.
    for (const int part : parts_) {
      const fs::path notebook = fmt::format("notebooks/part{}.ipynb", part);
      if (fs::exists(root_ / notebook)) add(root_ / notebook, fs::path(kOriginals) / notebook);
    }
    add_folder("python", [is_python = ending({".py", ".md", ".toml"})](const fs::path& file) {
      return is_python(file) && !has_folder(file, "tests");
    });
    // handouts/examples tests what the pages show: its README is for those who teach.
    add_folder("handouts", [of_page = ending({".md", ".svg", ".png"})](const fs::path& file) {
      return of_page(file) && !has_folder(file, "examples");
    });
    // What an nvcc from PyPI lacks (scripts/setup_common).
    add_folder("simgpu/cublas/include", ending({".h"}));
  }

  void add_dev_container() {
    const fs::path from = root_ / "docs/kit/devcontainer";
    const fs::path to = ".devcontainer";
    for (const char* file : {"Dockerfile", "devcontainer.json"}) add(from / file, to / file);
    add(from / "post_create", to / "post_create", KitFile::Kind::script);
  }

  void add_programs() {
    const fs::path bin = "build/bin";
    for (const char* program :
         {"grader", "simgpu", "simgpu-device", "rooflab-guest", "rooflab-sandboxed", "plot"}) {
      add(build_ / "bin" / program, bin / program, KitFile::Kind::program);
    }
    const fs::path lib = "build/lib/simgpu";
    for (const std::string name : {"cudart", "cublas", "cupti"}) {
      const std::string library = cuda_library(name), link = "lib" + name + ".so";
      add(build_ / "lib/simgpu" / library, lib / library, KitFile::Kind::library);
      add(build_ / "lib/simgpu" / link, lib / link, KitFile::Kind::link);
    }
    add(build_ / "lib/labs/toolkit.a", "build/lib/labs/toolkit.a", KitFile::Kind::object);
  }

  void add_part(int number) {
    // Without solutions: hidden cases are none of the kit's business.
    const PartSpec part = load_part(root_ / "labs", root_ / "labs", number);
    const fs::path folder = fs::path("labs") / part.directory;
    const fs::path lib = fs::path("lib") / folder;
    add(root_ / folder / "part.toml", folder / "part.toml");
    for (const char* may_be : {kTargetsFile, kHintsFile}) {
      if (fs::exists(root_ / folder / may_be)) add(root_ / folder / may_be, folder / may_be);
    }
    add_folder(folder / "interface", ending({".h", ".cuh"}));
    const std::string oracle = lib.string() + ".so";
    if (fs::is_directory(root_ / folder / "oracle")) {
      add(build_ / oracle, "build" / fs::path(oracle), KitFile::Kind::library);
    }
    // By the tasks, not by the folder: a build tree keeps objects of tasks that are gone.
    std::set<std::string> entries;
    for (const TaskSpec& task : part.tasks) {
      if (!task.entry.empty()) entries.insert(task.entry);
    }
    for (const std::string& entry : entries) {
      const fs::path object = lib / (entry + ".o");
      add(build_ / object, "build" / object, KitFile::Kind::object);
    }
    for (const TaskSpec& task : part.tasks) {
      if (task.kind != TaskKind::tests) continue;
      // Hidden implementations are none of the kit's business either.
      const fs::path library = lib / "tested" / (task.id + ".so");
      add(build_ / library, "build" / library, KitFile::Kind::library);
    }
  }

  const fs::path& root_;
  const fs::path& build_;
  const std::vector<int>& parts_;
  std::vector<KitFile> files_;
};

}  // namespace

std::vector<KitFile> list_kit_files(const fs::path& root, const fs::path& build,
                                    const std::vector<int>& parts) {
  return KitList(root, build, parts).make();
}

}  // namespace rooflab
