import { fqdnPattern } from '../fqdn.ts';

/** A field's type. `read` parses a peer's value, undefined if it is invalid; `takes` describes valid values. */
export type Kind<T> = { takes: string; read(value: unknown): T | undefined };

type Field<T> = { kind: Kind<T>; isMandatory: boolean };
export type Mandatory<T> = Field<T> & { isMandatory: true };
export type Optional<T> = Field<T> & { isMandatory: false };

export function mandatory<T>(kind: Kind<T>): Mandatory<T> {
  return { kind, isMandatory: true };
}

export function optional<T>(kind: Kind<T>): Optional<T> {
  return { kind, isMandatory: false };
}

/** SGP.22 §5.3: 19 or 20 digits, where the 20th may be the padding `F`. E.118 allows 18 as well. */
export const iccid: Kind<string> = {
  takes: '18 to 20 digits, optionally padded with F to 20 characters',
  read: (value) => (isText(value, /^(?=.{18,20}$)\d{18,20}F{0,2}$/i) ? value.replace(/F+$/i, '') : undefined),
};

export const eid: Kind<string> = matching(/^\d{32}$/, '32 digits');

/** SGP.22 §4.1: upper-case letters, digits and `-`. */
export const matchingId: Kind<string> = matching(/^[-0-9A-Z]{1,255}$/, 'digits, capital letters and -');

/** SGP.22 §4.1 allows only a fully qualified domain name. */
export const fqdn: Kind<string> = {
  takes: 'a fully qualified domain name',
  read: (value) => {
    const name = typeof value === 'string' ? value.replace(/\.$/, '') : value; // the root's dot
    return isText(name, fqdnPattern) ? name.toLowerCase() : undefined;
  },
};

export const text: Kind<string> = matching(/^\P{Cc}{1,255}$/u, 'up to 255 characters');

/** Data of the eUICC, which we ignore; vendors send it as text or as an object. */
export const anything: Kind<unknown> = { takes: 'anything', read: (value) => value };

export const flag: Kind<boolean> = {
  takes: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};

export const finalProfileStatus: Kind<'Available' | 'Unavailable'> = {
  takes: 'Available or Unavailable',
  read: (value) => (value === 'Available' || value === 'Unavailable' ? value : undefined),
};

/** SGP.22 §5.3.5 defines a number; some vendors send text. */
export const notificationPointId: Kind<number> = {
  takes: 'a whole number',
  read: (value) => {
    const number = isText(value, /^\d{1,6}$/) ? Number(value) : value;
    return Number.isInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
  },
};

type Status = 'Executed-Success' | 'Executed-WithWarning' | 'Failed' | 'Expired';
const statuses: readonly unknown[] = ['Executed-Success', 'Executed-WithWarning', 'Failed', 'Expired'];

/** SGP.22 §5.2.6: a subject and a reason, each a dotted number. */
type StatusCodeData = {
  subjectCode: string;
  reasonCode: string;
  subjectIdentifier?: string;
  message?: string;
};
export type ExecutionStatus = { status: Status; statusCodeData?: StatusCodeData };

/** SGP.22 §5.2.5; also what a notification point reports. */
export const executionStatus: Kind<ExecutionStatus> = {
  takes: 'an object with status and, if it failed, statusCodeData',
  read: (value) => {
    if (!isObject(value) || !statuses.includes(value['status'])) return undefined;
    const data = readStatusCodeData(value['statusCodeData']);
    return { status: value['status'] as Status, ...(data && { statusCodeData: data }) };
  },
};

function readStatusCodeData(value: unknown): StatusCodeData | undefined {
  if (!isObject(value)) return undefined;
  const { subjectCode, reasonCode, subjectIdentifier, message } = value;
  if (!isText(subjectCode, codePattern) || !isText(reasonCode, codePattern)) return undefined;
  return {
    subjectCode,
    reasonCode,
    ...(typeof subjectIdentifier === 'string' && { subjectIdentifier }),
    ...(typeof message === 'string' && { message }),
  };
}

const codePattern = /^\d{1,3}(\.\d{1,3}){0,5}$/;

/**
 * SGP.22 §5.3.5 refers to W3C's profile of ISO 8601. Vendors also send: no seconds, no offset (meaning UTC), a space for
 * the T, basic format, and Unix seconds or milliseconds.
 */
export const timestamp: Kind<Date> = {
  takes: 'a date such as 2026-11-01T12:30:00Z',
  read: (value) => {
    const date = isText(String(value), /^\d{10}(\d{3})?$/) ? ofUnixTime(String(value)) : ofIsoText(value);
    return date && !Number.isNaN(date.getTime()) ? date : undefined;
  },
};

function ofUnixTime(digits: string): Date {
  return new Date(digits.length === 10 ? Number(digits) * 1000 : Number(digits));
}

const isoPattern =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

function ofIsoText(value: unknown): Date | undefined {
  const parts = typeof value === 'string' ? isoPattern.exec(value) : null;
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = 'Z'] = parts;
  const ms = fraction.padEnd(3, '0').slice(0, 3);
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}${offset}`);
}

function matching(pattern: RegExp, takes: string): Kind<string> {
  return { takes, read: (value) => (isText(value, pattern) ? value : undefined) };
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
