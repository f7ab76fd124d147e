// Control and bidi characters, which change how a terminal shows the text around them.
const controls = '\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';

/** For names and URLs in requests. Responses may show names that were stored before this rule. */
export const oneLinePattern = `^[^\\u0000-\\u001f${controls}]+$`;

/** For notes, which may have tabs and line breaks. */
export const linesPattern = `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${controls}]*$`;
