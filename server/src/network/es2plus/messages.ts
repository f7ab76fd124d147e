import { type ExecutionStatus, executionStatus, isObject } from './fields.ts';
import {
  type Es2Function,
  type Es2FunctionName,
  es2Functions,
  type OrderFunctionName,
  type RequestOf,
  type ResponseOf,
} from './functions.ts';

export type RequestHeader = { functionRequesterIdentifier: string; functionCallIdentifier: string };

export type Answer<N extends OrderFunctionName> =
  | { kind: 'executed'; fields: ResponseOf<N> }
  | { kind: 'not-executed'; status: ExecutionStatus }
  /** Executed, but the result is invalid. */
  | { kind: 'broken'; why: string }
  | { kind: 'unreadable'; why: string };

/** The JSON of a request. Throws if the table does not allow it, since that is a bug; the error never contains a value. */
export function writeRequest<N extends OrderFunctionName>(
  name: N,
  header: RequestHeader,
  fields: RequestOf<N>,
): string {
  const declared: Es2Function = es2Functions[name];
  const read = readFields(declared.request, fields, declared);
  if ('why' in read) throw new Error(`${name} (SGP.22 §${declared.clause}): ${read.why}`);
  return JSON.stringify({ header, ...fields });
}

/** Parses an answer. A business error is HTTP 200 with the status `Failed` (SGP.22 §6.5.1.4). */
export function readAnswer<N extends OrderFunctionName>(name: N, json: unknown): Answer<N> {
  const header = isObject(json) ? json['header'] : undefined;
  const status = isObject(header) ? executionStatus.read(header['functionExecutionStatus']) : undefined;
  if (!status) return { kind: 'unreadable', why: 'there is no header.functionExecutionStatus' };
  if (status.status === 'Failed' || status.status === 'Expired') return { kind: 'not-executed', status };
  const read = readFields(es2Functions[name].response, json, {});
  if ('why' in read) return { kind: 'broken', why: read.why };
  return { kind: 'executed', fields: read.fields as ResponseOf<N> };
}

export type ReadRequest<N extends Es2FunctionName> =
  | { fields: RequestOf<N> }
  | { why: string; isMissing: boolean };

/** Parses a request to us. The header may be missing: nothing depends on it. */
export function readRequest<N extends Es2FunctionName>(name: N, json: unknown): ReadRequest<N> {
  const declared: Es2Function = es2Functions[name];
  const read = readFields(declared.request, json, declared);
  if ('why' in read) return read;
  return { fields: read.fields as RequestOf<N> };
}

/** Ignores unknown fields, since later versions of the standard add some. An empty string counts as missing. */
function readFields(
  declared: Es2Function['request'],
  json: unknown,
  { needsOneOf, aliases = {} }: Pick<Es2Function, 'needsOneOf' | 'aliases'>,
): { fields: Record<string, unknown> } | { why: string; isMissing: boolean } {
  if (!isObject(json)) return { why: 'it is not a JSON object', isMissing: false };
  const given = { ...json };
  for (const [spelling, name] of Object.entries(aliases)) given[name] ??= given[spelling];
  const fields: Record<string, unknown> = {};
  for (const [name, { kind, isMandatory }] of Object.entries(declared)) {
    const value = given[name];
    if (value === undefined || value === null || value === '') {
      if (isMandatory) return { why: `${name} is missing`, isMissing: true };
      continue;
    }
    const read = kind.read(value);
    if (read === undefined) return { why: `${name} is not ${kind.takes}`, isMissing: false };
    fields[name] = read;
  }
  if (needsOneOf && !needsOneOf.some((name) => name in fields)) {
    return { why: `one of ${needsOneOf.join(', ')} is required`, isMissing: true };
  }
  return { fields };
}
