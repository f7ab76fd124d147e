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
  /** It was carried out, and what came of it cannot be used. */
  | { kind: 'broken'; why: string }
  | { kind: 'unreadable'; why: string };

/** The JSON of a request. What the table does not allow is a bug of the caller, so it throws, and never with a value. */
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

/** What an answer says. A business error comes as HTTP 200 with the status `Failed` (SGP.22 §6.5.1.4). */
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

/** What somebody asks of us. Its header may be missing: nothing here depends on it. */
export function readRequest<N extends Es2FunctionName>(name: N, json: unknown): ReadRequest<N> {
  const declared: Es2Function = es2Functions[name];
  const read = readFields(declared.request, json, declared);
  if ('why' in read) return read;
  return { fields: read.fields as RequestOf<N> };
}

/** Unknown fields are passed over: later versions of the standard add some. An empty text counts as left out. */
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
    return { why: `one of ${needsOneOf.join(', ')} is needed`, isMissing: true };
  }
  return { fields };
}
