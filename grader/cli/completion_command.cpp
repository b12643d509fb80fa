#include "grader/cli/completion_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <optional>

#include "grader/cli/info_commands.h"
#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

/// Words that are split at colons and equal signs by bash are put together again for the program,
/// and what stands before the last of these is cut from its answers.
constexpr const char* kBash =
    R"bash(# Tab completion of Rooflab's grader: source <(grader completion bash)
_rooflab_grader() {
  local line="${COMP_LINE:0:COMP_POINT}" program="${1/#\~/$HOME}" word IFS=$' \t\n'
  local -a words
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=("") ;; esac
  local current="${words[${#words[@]}-1]}"
  local split="${current%"${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r word; do
    case "$word" in "$current"*) COMPREPLY+=("${word#"$split"}") ;; esac
  done < <("$program" complete-words "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _rooflab_grader grader
)bash";

constexpr const char* kZsh = R"zsh(#compdef grader
# Tab completion of Rooflab's grader: source <(grader completion zsh)
_rooflab_grader() {
  local -a found
  local program="${(Q)words[1]/#\~/$HOME}"
  found=("${(@f)$("$program" complete-words "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  found=("${(@)found:#}")
  if (( ${#found} )); then
    compadd -a found
  else
    _files
  fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u -D }
compdef _rooflab_grader grader
)zsh";

using Words = std::vector<std::string>;

/// What was typed before the word that is to be completed, as far as it matters.
struct Typed {
  const CLI::App* command = nullptr;
  const CLI::Option* waiting = nullptr;       ///< the option whose value comes next
  std::map<std::string, std::string> values;  ///< of options: "--part" -> "1"
  std::size_t positionals = 0;
};

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string before_equals(const std::string& word) { return word.substr(0, word.find('=')); }

/// nullptr when there is no command of that name.
const CLI::App* command_of(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Typed read_typed(const CLI::App& root, const Words& words) {
  Typed typed{.command = &root, .waiting = nullptr, .values = {}, .positionals = 0};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (typed.waiting != nullptr) {
      typed.values[typed.waiting->get_name()] = word;
      typed.waiting = nullptr;
    } else if (word.starts_with("-")) {
      const CLI::Option* option = typed.command->get_option_no_throw(before_equals(word));
      if (option == nullptr || !takes_value(*option)) continue;
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        typed.waiting = option;
      } else {
        typed.values[option->get_name()] = word.substr(equals + 1);
      }
    } else if (const CLI::App* command = command_of(*typed.command, word)) {
      typed.command = command;
    } else {
      ++typed.positionals;
    }
  }
  return typed;
}

Words commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The choices of a CLI::IsMember, which describes itself as "{bash,zsh}".
Words choices_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const std::size_t begin = text.find('{');
  const std::size_t end = text.find('}', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(text.substr(begin + 1, end - begin - 1), ',');
}

/// What the installation has to say about the values of options, by their names.
class InstalledWords {
 public:
  InstalledWords(const Installation& installation, const Typed& typed)
      : installation_(installation), typed_(typed) {}

  Words of(const std::string& name) const {
    if (name == "--part") return parts();
    if (name == "--task") return tasks();
    if (name == "--case") return cases();
    if (name == "--hint") return groups_with_hints();
    if (name == "--mistake") return folders_in("mistakes");
    if (name == "--right") return folders_in("right");
    if (name == "--gpu") return gpu_spec::list(installation_.gpus());
    if (name == "--device") return devices();
    if (name == "code") return known_codes(installation_);
    return {};
  }

 private:
  Words parts() const {
    Words words;
    for (const int number : list_parts(installation_.labs()))
      words.push_back(fmt::to_string(number));
    return words;
  }

  /// The part that was named, or all of them.
  std::vector<PartSpec> named_parts() const {
    std::vector<PartSpec> named;
    const auto given = typed_.values.find("--part");
    for (const int number : list_parts(installation_.labs())) {
      if (given != typed_.values.end() && given->second != fmt::to_string(number)) continue;
      named.push_back(load_part(installation_.labs(), installation_.solutions(), number));
    }
    return named;
  }

  Words tasks() const {
    Words words;
    for (const PartSpec& part : named_parts()) {
      for (const TaskSpec& task : part.tasks) words.push_back(task.id);
    }
    return words;
  }

  Words cases() const {
    const auto given = typed_.values.find("--task");
    std::ptrdiff_t most = 0;
    for (const PartSpec& part : named_parts()) {
      for (const TaskSpec& task : part.tasks) {
        if (given == typed_.values.end() || given->second != task.id) continue;
        most = std::max(most, std::ranges::count(task.cases, false, &CaseSpec::hidden));
      }
    }
    Words words;
    for (std::ptrdiff_t i = 1; i <= most; ++i) words.push_back(fmt::to_string(i));
    return words;
  }

  Words groups_with_hints() const {
    const auto given = typed_.values.find("--task");
    Words words;
    for (const PartSpec& part : named_parts()) {
      for (const TaskSpec& task : part.tasks) {
        if (given == typed_.values.end() || given->second != task.id) continue;
        for (const GroupSpec& group : task.groups) {
          if (!group.hints.empty()) words.push_back(group.name);
        }
      }
    }
    return words;
  }

  /// Planted mistakes and right submissions are folders of their part.
  Words folders_in(const char* kind) const {
    Words words;
    for (const PartSpec& part : named_parts()) {
      const auto folder = installation_.labs() / part.directory / kind;
      if (!std::filesystem::is_directory(folder)) continue;
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.is_directory()) words.push_back(entry.path().filename());
      }
    }
    std::ranges::sort(words);
    return words;
  }

  Words devices() const {
    Words words = {"auto", "cuda", "sim"};
    const auto listed = course_spec_or_none(installation_.labs()).gpus;
    for (const std::string& gpu : listed.empty() ? gpu_spec::list(installation_.gpus()) : listed)
      words.push_back("sim:" + gpu);
    return words;
  }

  const Installation& installation_;
  const Typed& typed_;
};

Words values_of(const CLI::Option& option, const Typed& typed) {
  if (Words choices = choices_of(option); !choices.empty()) return choices;
  try {
    return InstalledWords(find_installation(), typed).of(option.get_name());
  } catch (const std::exception&) {  // whatever is wrong, a tab is not the time to tell
    return {};
  }
}

/// The option that takes the next word which is none; nullptr when no such word is wanted.
const CLI::Option* next_positional(const Typed& typed) {
  std::size_t skip = typed.positionals;
  for (const CLI::Option* option : typed.command->get_options()) {
    if (!option->get_positional()) continue;
    if (skip-- == 0) return option;
  }
  return nullptr;
}

Words candidates(const CLI::App& root, const Words& words) {
  const Typed typed = read_typed(root, words);
  const std::string current = words.empty() ? "" : words.back();
  if (typed.waiting != nullptr) return values_of(*typed.waiting, typed);
  if (current.starts_with("--") && current.find('=') != std::string::npos) {
    const std::string name = before_equals(current);
    const CLI::Option* option = typed.command->get_option_no_throw(name);
    Words values = option == nullptr ? Words{} : values_of(*option, typed);
    for (std::string& value : values) value.insert(0, name + "=");
    return values;
  }
  if (current.starts_with("-")) return options_of(*typed.command);
  if (const CLI::Option* positional = next_positional(typed)) return values_of(*positional, typed);
  Words all = typed.values.empty() ? commands_of(*typed.command) : Words{};
  if (current.empty()) {
    for (std::string& option : options_of(*typed.command)) all.push_back(std::move(option));
  }
  return all;
}

}  // namespace

int print_completion(std::ostream& out, const std::string& shell) {
  out << (shell == "zsh" ? kZsh : kBash);
  return 0;
}

int complete_words(std::ostream& out, const std::vector<std::string>& words) {
  walk_command_line([&](const CLI::App& root) {
    for (const std::string& word : candidates(root, words)) {
      if (words.empty() || word.starts_with(words.back())) out << word << '\n';
    }
  });
  return 0;
}

}  // namespace rooflab
