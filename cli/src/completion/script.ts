import type { Command } from 'commander';
import { type CommandCompletions, completionsOf } from './command-completions.ts';

/** A self-contained script: pressing Tab does not run the CLI. */
export function completionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  return scripts[shell](completionsOf(program));
}

const scripts = { bash, zsh, fish };

function bash(commands: CommandCompletions[]): string {
  return `# simplane completion for bash: eval "$(simplane completion bash)"
_simplane() {
  local at="" word current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${pathPattern(commands)}) at="$at $word" ;;
    esac
  done
  case "$at $before" in
${valueCases(commands, (values) => `words=${quote(values.join(' '))}`)}
    *)
      case "$at" in
${commands.map(({ path, words }) => `        ${quote(spaced(path))}) words=${quote(words.map(({ text }) => text).join(' '))} ;;`).join('\n')}
      esac ;;
  esac
  local IFS=$' \\t\\n'
  COMPREPLY=($(set -f; compgen -W "$words" -- "$current"))
}
complete -o default -F _simplane simplane
`;
}

function zsh(commands: CommandCompletions[]): string {
  const described = ({ words }: CommandCompletions) =>
    words.map(({ text, help }) => quote(help ? `${text}:${help}` : text)).join(' ');
  return `#compdef simplane
# simplane completion for zsh: eval "$(simplane completion zsh)"
_simplane() {
  local at="" word before="\${words[CURRENT-1]}"
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${pathPattern(commands)}) at="$at $word" ;;
    esac
  done
  case "$at $before" in
${valueCases(commands, (values) => `found=(${values.map(quote).join(' ')})`)}
    *)
      case "$at" in
${commands.map((command) => `        ${quote(spaced(command.path))}) found=(${described(command)}) ;;`).join('\n')}
      esac ;;
  esac
  _describe simplane found
}
compdef _simplane simplane
`;
}

function fish(commands: CommandCompletions[]): string {
  const lines = commands.flatMap(({ path, words, values }) => {
    const here = `-n ${quote(`test (__simplane_at) = ${quote(path)}`.replaceAll("'", '"'))}`;
    return [
      ...words
        .filter(({ text }) => !text.startsWith('--'))
        .map(({ text, help }) => `complete -c simplane -f ${here} -a ${quote(text)} -d ${quote(help)}`),
      ...words
        .filter(({ text }) => text.startsWith('--'))
        .map(({ text, help }) => {
          const choices = values.get(text);
          const argument = choices ? ` -x -a ${quote(choices.join(' '))}` : '';
          return `complete -c simplane ${here} -l ${text.slice(2)}${argument} -d ${quote(help)}`;
        }),
    ];
  });
  return `# simplane completion for fish: simplane completion fish | source
function __simplane_at
  set -l at
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${commands.map(({ path }) => quote(path.includes(' ') ? path : ` ${path}`)).join(' ')}
        set at (string trim -- "$at $word")
    end
  end
  echo "$at"
end
complete -c simplane -e
${lines.join('\n')}
`;
}

/** The path as the scripts build it: a space before every command. */
function spaced(path: string): string {
  return path === '' ? '' : ` ${path}`;
}

function pathPattern(commands: CommandCompletions[]): string {
  return commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(spaced(path)))
    .join('|');
}

function valueCases(commands: CommandCompletions[], assign: (values: string[]) => string): string {
  return commands
    .flatMap(({ path, values }) =>
      [...values].map(([name, choices]) => `    ${quote(`${spaced(path)} ${name}`)}) ${assign(choices)} ;;`),
    )
    .join('\n');
}

/** Quotes text as a single shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
