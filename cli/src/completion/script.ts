import type { Command } from 'commander';
import { type Place, placesOf } from './words.ts';

/** The whole script; nothing of ours runs when a key is pressed. */
export function completionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  return scripts[shell](placesOf(program));
}

const scripts = { bash, zsh, fish };

function bash(places: Place[]): string {
  return `# simplane completion for bash: eval "$(simplane completion bash)"
_simplane() {
  local at="" word current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${pathPattern(places)}) at="$at $word" ;;
    esac
  done
  case "$at $before" in
${valueCases(places, (values) => `words=${quote(values.join(' '))}`)}
    *)
      case "$at" in
${places.map(({ path, words }) => `        ${quote(spaced(path))}) words=${quote(words.map(({ text }) => text).join(' '))} ;;`).join('\n')}
      esac ;;
  esac
  local IFS=$' \\t\\n'
  COMPREPLY=($(set -f; compgen -W "$words" -- "$current"))
}
complete -o default -F _simplane simplane
`;
}

function zsh(places: Place[]): string {
  const described = ({ words }: Place) =>
    words.map(({ text, help }) => quote(help ? `${text}:${help}` : text)).join(' ');
  return `#compdef simplane
# simplane completion for zsh: eval "$(simplane completion zsh)"
_simplane() {
  local at="" word before="\${words[CURRENT-1]}"
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${pathPattern(places)}) at="$at $word" ;;
    esac
  done
  case "$at $before" in
${valueCases(places, (values) => `found=(${values.map(quote).join(' ')})`)}
    *)
      case "$at" in
${places.map((place) => `        ${quote(spaced(place.path))}) found=(${described(place)}) ;;`).join('\n')}
      esac ;;
  esac
  _describe simplane found
}
compdef _simplane simplane
`;
}

function fish(places: Place[]): string {
  const lines = places.flatMap(({ path, words, values }) => {
    const here = `-n ${quote(`test (__simplane_at) = ${quote(path)}`.replaceAll("'", '"'))}`;
    return [
      ...words
        .filter(({ text }) => !text.startsWith('--'))
        .map(({ text, help }) => `complete -c simplane -f ${here} -a ${quote(text)} -d ${quote(help)}`),
      ...words
        .filter(({ text }) => text.startsWith('--'))
        .map(({ text, help }) => {
          const taken = values.get(text);
          const given = taken ? ` -x -a ${quote(taken.join(' '))}` : '';
          return `complete -c simplane ${here} -l ${text.slice(2)}${given} -d ${quote(help)}`;
        }),
    ];
  });
  return `# simplane completion for fish: simplane completion fish | source
function __simplane_at
  set -l at
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${places.map(({ path }) => quote(path.includes(' ') ? path : ` ${path}`)).join(' ')}
        set at (string trim -- "$at $word")
    end
  end
  echo "$at"
end
complete -c simplane -e
${lines.join('\n')}
`;
}

/** How the scripts write where they are: every command after a space. */
function spaced(path: string): string {
  return path === '' ? '' : ` ${path}`;
}

function pathPattern(places: Place[]): string {
  return places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(spaced(path)))
    .join('|');
}

function valueCases(places: Place[], assign: (values: string[]) => string): string {
  return places
    .flatMap(({ path, values }) =>
      [...values].map(([option, taken]) => `    ${quote(`${spaced(path)} ${option}`)}) ${assign(taken)} ;;`),
    )
    .join('\n');
}

/** One word for the shell, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
