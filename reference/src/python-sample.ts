import type { DocOperation } from './document.ts';
import { sampleRequest } from './sample-request.ts';

/** A script for Python's standard library, so that nothing has to be installed. */
export function pythonSample(operation: DocOperation, baseUrl: string): string {
  const { method, keyVariable, path, idempotencyKey, body } = sampleRequest(operation);
  const headers = [
    `"Authorization": "Bearer " + os.environ["${keyVariable}"],`,
    ...(idempotencyKey === undefined ? [] : [`"Idempotency-Key": ${JSON.stringify(idempotencyKey)},`]),
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(baseUrl.replace(/\/+$/, '') + path)},
    method=${JSON.stringify(method)},
    headers={${headers.map((line) => `\n        ${line}`).join('')}
    },${body === undefined ? '' : `\n    data=json.dumps(${literal(body, '    ')}).encode(),`}
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

/** JSON as a Python literal. */
function literal(value: unknown, margin: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${margin}    `;
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map((one) => literal(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${literal(one, inner)}`);
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  const short = `${open}${items.join(', ')}${close}`;
  if (short.length <= 50 && !short.includes('\n')) return short;
  return `${open}${items.map((item) => `\n${inner}${item},`).join('')}\n${margin}${close}`;
}
