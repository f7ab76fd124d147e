// Control and bidi characters, which could set the terminal's title or clipboard, erase lines or turn text around. What tenants
// called their things must not do that to the operator.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Shows each control character as its escape, such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(controls, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for text of several lines. In JSON only those are left that strings may contain, and their escapes mean the same. */
export function escapeInLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
