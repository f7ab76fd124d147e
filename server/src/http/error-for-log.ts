import { clip } from '../platform/telemetry/clip.ts';
import { redact } from '../platform/telemetry/redact.ts';

const maxMessageLength = 500;

// What our parameters and headers look like, and usual names of metadata. Others may be anything, so they become `*`.
const plainName = /^(?:[a-z][a-z0-9_-]*|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+(?:-[A-Z][a-z]+)*|\d{1,6})$/;
const maxNameLength = 40;

// Words, ids and numbers.
const plainValue = /^[a-z0-9_.,* -]{0,60}$/;

/**
 * The error as the request log keeps it. A message may quote what the request contained; the log must not, because that may be a
 * secret. So quoted text that is not a plain word, id or number becomes `…`, and so do names that a client made up.
 */
export function errorForLog(message: string, param: string | undefined) {
  const isPlain = param === undefined || param.split(/[.[\]]+/).every(isPlainName);
  const named = isPlain ? message : message.split(param).join('*');
  return {
    message: clip(redact(named.replace(/"(.*)/s, hideQuoted)), maxMessageLength),
    param: isPlain ? param : '*',
  };
}

function isPlainName(name: string): boolean {
  return name === '' || (name.length <= maxNameLength && plainName.test(name));
}

/** From the first quote to the end: a quoted value may itself contain quotes, and a long one has been cut before its last. */
function hideQuoted(whole: string, quoted: string): string {
  return quoted.split('"').every((part) => plainValue.test(part)) ? whole : '"…';
}
