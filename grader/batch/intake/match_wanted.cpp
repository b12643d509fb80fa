#include "grader/batch/intake/match_wanted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace rooflab {
namespace {

constexpr std::size_t kMostShown = 4;

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    components.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return components;
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// "gemv-1.cu", which Canvas makes of a file that was handed in again, as "gemv.cu".
std::string without_canvas_number(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::size_t hyphen = name.rfind('-', dot);
  if (dot == std::string::npos || hyphen == std::string::npos || hyphen + 1 == dot) return name;
  const std::string_view number = std::string_view(name).substr(hyphen + 1, dot - hyphen - 1);
  const bool digits = number.find_first_not_of("0123456789") == std::string_view::npos;
  return digits && number.size() <= 3 ? name.substr(0, hyphen) + name.substr(dot) : name;
}

bool is_called(const std::string& name, const std::string& wanted) {
  return name == wanted || without_canvas_number(name) == wanted;
}

/// The folder that a part's files lie in, or its number alone: "part1-metrics", "part1".
bool is_part_folder(const std::string& component, const std::string& folder) {
  return component == folder || component == folder.substr(0, folder.find('-'));
}

bool lies_in(const FoundFile& file, const std::string& folder) {
  std::vector<std::string> components = components_of(file.path);
  components.pop_back();
  return !folder.empty() && std::ranges::any_of(components, [&](const std::string& component) {
    return is_part_folder(component, folder);
  });
}

class Matcher {
 public:
  Matcher(const std::vector<FoundFile>& found, const std::vector<std::string>& wanted)
      : found_(found), wanted_(wanted) {}

  Matched run() {
    for (const std::string& name : wanted_) {
      std::vector<const FoundFile*> candidates = by_path(name);
      const bool by_name_alone = candidates.empty();
      if (by_name_alone) candidates = by_name(name);
      if (!candidates.empty()) decide(name, candidates, by_name_alone);
    }
    for (const std::string& prefix : prefixes_) {
      matched_.notes.push_back(fmt::format("Its files lie in {}/.", shown(prefix)));
    }
    return std::move(matched_);
  }

 private:
  std::vector<const FoundFile*> by_path(const std::string& name) const {
    std::vector<const FoundFile*> candidates;
    for (const FoundFile& file : found_) {
      if (file.path == name || file.path.ends_with("/" + name)) candidates.push_back(&file);
    }
    return candidates;
  }

  bool is_shared(const std::string& name) const {
    return std::ranges::count_if(wanted_, [&](const std::string& other) {
             return last_of(other) == last_of(name);
           }) > 1;
  }

  bool lies_in_another(const FoundFile& file, const std::string& name) const {
    return std::ranges::any_of(wanted_, [&](const std::string& other) {
      return folder_of(other) != folder_of(name) && lies_in(file, folder_of(other));
    });
  }

  std::vector<const FoundFile*> by_name(const std::string& name) {
    std::vector<const FoundFile*> candidates;
    for (const FoundFile& file : found_) {
      if (!is_called(last_of(file.path), last_of(name))) continue;
      const bool here = lies_in(file, folder_of(name));
      if (!here && lies_in_another(file, name)) continue;
      if (here || !is_shared(name)) {
        candidates.push_back(&file);
      } else if (told_.insert(file.path).second) {
        matched_.doubts.push_back(
            fmt::format("{} is not taken: several parts ask for a file of this name; it has to lie "
                        "in its part's folder, such as {}",
                        shown(file), name));
      }
    }
    return candidates;
  }

  void decide(const std::string& name, const std::vector<const FoundFile*>& candidates,
              bool by_name_alone) {
    const SubmittedFile first = read_found(*candidates.front());
    const auto is_other = [&](const FoundFile* candidate) {
      const SubmittedFile other = read_found(*candidate);
      return other.state != first.state || other.text != first.text;
    };
    if (std::any_of(candidates.begin() + 1, candidates.end(), is_other)) {
      return doubt_which(name, candidates);
    }
    const std::string& path = candidates.front()->path;
    if (first.state != SubmittedFile::State::present) {
      matched_.doubts.push_back(fmt::format("{} is not taken: {}; the plain file is wanted",
                                            shown(*candidates.front()),
                                            first.reason.empty() ? "it is gone" : first.reason));
      return;
    }
    matched_.files[name] = first.text;
    if (by_name_alone) {
      matched_.notes.push_back(fmt::format("{} is taken for {}.", shown(path), name));
    } else if (path != name) {
      prefixes_.insert(path.substr(0, path.size() - name.size() - 1));
    }
    if (candidates.size() > 1) {
      matched_.notes.push_back(
          fmt::format("{} is in it {} times, the same to the byte.", name, candidates.size()));
    }
  }

  void doubt_which(const std::string& name, const std::vector<const FoundFile*>& candidates) {
    std::vector<std::string> paths;
    for (const FoundFile* candidate : candidates) {
      if (paths.size() < kMostShown) paths.push_back(shown(*candidate));
    }
    matched_.doubts.push_back(fmt::format(
        "{} files could be {}: {}{}; none is taken, since only the student knows which counts",
        candidates.size(), name, fmt::join(paths, ", "),
        candidates.size() > kMostShown ? ", …" : ""));
  }

  const std::vector<FoundFile>& found_;
  const std::vector<std::string>& wanted_;
  Matched matched_;
  std::set<std::string> prefixes_;
  std::set<std::string> told_;
};

}  // namespace

Matched match_wanted(const std::vector<FoundFile>& found, const std::vector<std::string>& wanted) {
  return Matcher(found, wanted).run();
}

bool is_wanted_name(const std::string& name, const std::vector<std::string>& wanted) {
  return std::ranges::any_of(wanted,
                             [&](const std::string& one) { return is_called(name, last_of(one)); });
}

}  // namespace rooflab
