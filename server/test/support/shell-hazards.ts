/**
 * What works in one shell and not in another, or not when pasted: an interactive zsh has no comments, refuses a glob that
 * matches nothing, and both expand `!`. Reports each as text; empty if there is none.
 */
export function shellHazards(text: string): string[] {
  const found: string[] = [];
  const open: Context[] = ['command'];
  let isWordStart = true;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    const context = open.at(-1) as Context;
    const report = (what: string) => found.push(`${what}: ${lineAt(text, at)}`);
    if (context === 'single') {
      if (letter === "'") open.pop();
    } else if (letter === '\\') {
      at++;
    } else if (letter === '$' && text[at + 1] === '(') {
      open.push('command');
      at++;
      isWordStart = true;
      continue;
    } else if (letter === '!' && !(context === 'command' && /^!\s/.test(text.slice(at)))) {
      report('! is history outside single quotes');
    } else if (context === 'double') {
      if (letter === '"') open.pop();
    } else if (letter === "'" || letter === '"') {
      open.push(letter === "'" ? 'single' : 'double');
    } else if (letter === ')' && open.length > 1) {
      open.pop();
    } else if (letter === '#' && isWordStart) {
      report('zsh has no comments when pasted');
    } else if ('?*'.includes(letter) && text[at - 1] !== '$') {
      report('quote ? and *');
    } else if (letter === '[' && !(isWordStart && /^\[\[?\s/.test(text.slice(at)))) {
      report('quote [');
    } else if (letter === '=' && isWordStart) {
      report('zsh expands a word that begins with =');
    } else if (letter === '~' && isWordStart === false) {
      report('quote ~');
    } else if (/[^\t\n\x20-\x7e]/.test(letter) || /^<[a-z]/.test(text.slice(at))) {
      report('a placeholder cannot be run; use a variable');
    }
    isWordStart = open.at(-1) === 'command' && /[\s;&|(]/.test(letter);
  }
  if (open.length > 1) found.push(`a quote or $( is not closed: ${text.trim().split('\n').at(-1)}`);
  return found;
}

type Context = 'command' | 'single' | 'double';

function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  return text.slice(start, end === -1 ? text.length : end).trim();
}
