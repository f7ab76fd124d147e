// Control and bidi characters, which could move the cursor or recolor the terminal. Combining marks and joiners stay.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes untrusted text safe to print in a terminal. */
export function clean(text: string): string {
  return text.replace(controls, '\ufffd');
}
