// Control and bidi characters, which could move the cursor or recolor the terminal. Combining marks and joiners stay.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON on one line. `JSON.stringify` leaves some of these characters as they are; their escapes mean the same. */
export function cleanJson(value: unknown): string {
  return JSON.stringify(value).replace(
    controls,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Makes untrusted text safe to print in a terminal. */
export function clean(text: string): string {
  return text.replace(controls, '\ufffd');
}
