// Letters, marks and joiners stay; what could move the cursor or recolour the terminal does not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of somebody else's making, safe to show in a terminal: a description must not be able to type for us. */
export function clean(text: string): string {
  return text.replace(controls, '\ufffd');
}
