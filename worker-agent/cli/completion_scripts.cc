#include "worker-agent/cli/completion_scripts.h"

#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "worker-agent/cli/completion_tree.h"

namespace intercom {
namespace {

// What bash and zsh share. `kind` becomes what is completed after the words
// before the cursor: "@sessions", "@directories", "-" for anything, or words
// with commas between them.
constexpr char kWalk[] = R"sh(
_intercom_walk() {
	local current=$1 word pair path='' pending='' commands options values operands
	shift
	_intercom_at ''
	for word in "$@"; do
		if [[ -n $pending ]]; then
			pending=''
			continue
		fi
		case $word in
			-*=*) ;;
			-*)
				for pair in $values; do
					if [[ ${pair%%=*} == "$word" ]]; then pending=${pair#*=}; fi
				done
				;;
			*)
				if [[ " $commands " == *" $word "* ]]; then
					path="${path:+$path }$word"
					_intercom_at "$path"
				elif [[ $operands == *' '* ]]; then
					operands=${operands#* }
				else
					operands=''
				fi
				;;
		esac
	done
	if [[ -n $pending ]]; then
		kind=$pending
	elif [[ $current == -* ]]; then
		kind=${options// /,}
	elif [[ -n $commands ]]; then
		kind=${commands// /,}
	else
		kind=${operands%% *}
	fi
}
)sh";

constexpr char kBash[] = R"sh(
_intercom() {
	local current=${COMP_WORDS[COMP_CWORD]} kind='' word head='' IFS=$' \t\n'
	local before=()
	COMPREPLY=()
	# Readline takes --state=seen apart at its sign.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if [[ $word != = ]]; then before+=("$word"); fi
	done
	if [[ $current == = ]]; then current=''; fi
	_intercom_walk "$current" "${before[@]}"
	case $kind in
		@sessions)
			# Whoever names a session must not have the shell expand it.
			while IFS= read -r word; do
				printf -v word %q "$word"
				if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
			done < <(command intercom complete-sessions 2>/dev/null </dev/null)
			;;
		@directories)
			compopt -o filenames 2>/dev/null
			while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current")
			;;
		- | '') ;;
		*)
			if [[ $current == *,* ]]; then head=${current%,*},; fi
			for word in ${kind//,/ }; do
				if [[ $head$word == "$current"* ]]; then COMPREPLY+=("$head$word"); fi
			done
			;;
	esac
}
complete -F _intercom intercom
)sh";

constexpr char kZsh[] = R"sh(
_intercom() {
	emulate -L zsh
	setopt shwordsplit
	local kind=''
	local -a names
	_intercom_walk "${words[CURRENT]}" "${(@Q)words[2,CURRENT-1]}"
	case $kind in
		@sessions)
			names=("${(@f)$(command intercom complete-sessions 2>/dev/null </dev/null)}")
			compadd -- "${(@)names:#}"
			;;
		@directories) _path_files -/ ;;
		-|'') ;;
		*)
			compset -P '*,'
			compadd -- "${(@s:,:)kind}"
			;;
	esac
}
compdef _intercom intercom
)sh";

constexpr char kFish[] = R"sh(
# The words of the command that was typed so far, and how many operands follow.
function __intercom_typed
	set -l path ''
	set -l operands 0
	set -l skip 0
	for word in (commandline -opc)[2..-1]
		if test $skip = 1
			set skip 0
			continue
		end
		switch $word
			case '-*=*'
			case '-*'
				if contains -- $word $__intercom_valued
					set skip 1
				end
			case '*'
				set -l next (string trim -- "$path $word")
				if contains -- $next $__intercom_paths
					set path $next
				else
					set operands (math $operands + 1)
				end
		end
	end
	echo $path
	echo $operands
end

# Whether that is the command $argv[1], with $argv[2] operands if these are told.
function __intercom_at
	set -l typed (__intercom_typed)
	test "$typed[1]" = "$argv[1]"; or return 1
	test (count $argv) -lt 2; or test "$typed[2]" = "$argv[2]"
end

complete -c intercom -f
)sh";

std::string Join(const std::vector<std::string>& words) {
  return absl::StrJoin(words, " ");
}

// The case of each command, for bash and zsh.
std::string Cases(const std::vector<TypedCommand>& all) {
  std::string text = "_intercom_at() {\n\tcase $1 in\n";
  for (const TypedCommand& command : all) {
    std::vector<std::string> options, values;
    for (const TypedOption& option : command.options) {
      for (const std::string& name : option.names) {
        options.push_back(name);
        if (!option.value.empty()) values.push_back(name + "=" + option.value);
      }
    }
    text += "\t\t'" + command.path + "')\n\t\t\tcommands='" +
            Join(command.commands) + "'\n\t\t\toptions='" + Join(options) +
            "'\n\t\t\tvalues='" + Join(values) + "'\n\t\t\toperands='" +
            Join(command.operands) + "'\n\t\t\t;;\n";
  }
  return text + "\tesac\n}\n";
}

std::string Heading(std::string_view shell, std::string_view how) {
  return "# Completes intercom in " + std::string(shell) +
         ". Made by: intercom completion " + std::string(shell) + "\n# " +
         std::string(how) + "\n";
}

std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// What completes a value of this kind.
std::string FishValues(const std::string& kind) {
  if (kind == kAnything) return "";
  if (kind == kDirectories) return " -a '(__fish_complete_directories)'";
  if (kind == kSessions) {
    return " -a '(command intercom complete-sessions 2>/dev/null </dev/null)'";
  }
  return " -a " + FishQuoted(absl::StrJoin(absl::StrSplit(kind, ','), " "));
}

std::string FishOption(const std::string& condition,
                       const TypedOption& option) {
  std::string line = "complete -c intercom -n " + condition;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2)
                                   : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += " -x" + FishValues(option.value);
  return line + " -d " + FishQuoted(option.summary) + "\n";
}

}  // namespace

std::string BashCompletion(const CLI::App& parser) {
  return Heading("bash", "In ~/.bashrc: source <(intercom completion bash)") +
         "\n" + Cases(TypedCommands(parser)) + kWalk + kBash;
}

std::string ZshCompletion(const CLI::App& parser) {
  return "#compdef intercom\n" +
         Heading("zsh",
                 "In ~/.zshrc, after compinit: "
                 "source <(intercom completion zsh)") +
         "\n" + Cases(TypedCommands(parser)) + kWalk + kZsh;
}

std::string FishCompletion(const CLI::App& parser) {
  const std::vector<TypedCommand> all = TypedCommands(parser);
  std::string paths, lines;
  std::set<std::string> valued;
  for (const TypedCommand& command : all) {
    const std::string at = "__intercom_at " + FishQuoted(command.path);
    if (!command.path.empty()) paths += " " + FishQuoted(command.path);
    for (const TypedCommand& below : all) {
      const std::string lead = command.path.empty() ? "" : command.path + " ";
      if (below.path.empty() || !below.path.starts_with(lead)) continue;
      const std::string word = below.path.substr(lead.size());
      if (word.empty() || word.find(' ') != std::string::npos) continue;
      lines += "complete -c intercom -n " + FishQuoted(at) + " -a " + word +
               " -d " + FishQuoted(below.summary) + "\n";
    }
    for (const TypedOption& option : command.options) {
      lines += FishOption(FishQuoted(at), option);
      if (option.value.empty()) continue;
      valued.insert(option.names.begin(), option.names.end());
    }
    for (size_t i = 0; i < command.operands.size(); ++i) {
      const std::string values = FishValues(command.operands[i]);
      if (values.empty()) continue;
      lines += "complete -c intercom -n " +
               FishQuoted(at + " " + std::to_string(i)) + values + "\n";
    }
  }
  return Heading("fish",
                 "intercom completion fish > "
                 "~/.config/fish/completions/intercom.fish") +
         "\nset -g __intercom_paths" + paths + "\nset -g __intercom_valued " +
         absl::StrJoin(valued, " ") + "\n" + kFish + lines;
}

}  // namespace intercom
