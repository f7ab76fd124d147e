import type { DocOperation } from './document.ts';
import { pathValues, sampleRequest } from './sample-request.ts';
import { sdkCalls } from './sdk-calls.ts';

/** A module that calls the operation with the SDK. Null for an operation that the SDK does not have. */
export function typescriptSample(operation: DocOperation, baseUrl: string): string | null {
  const method = (sdkCalls as Record<string, string | undefined>)[operation.id];
  if (method === undefined) return null;
  const { keyVariable, body, query, idempotencyKey } = sampleRequest(operation);
  const [client, create] = operation.isOperators
    ? ['operator', 'createOperator']
    : ['simplane', 'createSimplane'];
  const required = operation.parameters.flatMap(({ in: where, required, name }) =>
    where === 'query' && required ? [name] : [],
  );
  const rest = Object.fromEntries(Object.entries(query).filter(([name]) => !required.includes(name)));
  const args = [
    ...pathValues(operation),
    ...required.map((name) => query[name]),
    ...(body !== undefined ? [body] : Object.keys(rest).length > 0 ? [rest] : []),
    ...(idempotencyKey === undefined ? [] : [{ idempotencyKey }]),
  ].map((value) => literal(value));
  const line = `const result = await ${client}.${method}(${args.join(', ')});`;
  const call =
    line.length <= 80 && !line.includes('\n')
      ? line
      : `const result = await ${client}.${method}(${args.map((arg) => `\n  ${indent(arg)},`).join('')}\n);`;
  return `import { ${create} } from '@simplane/sdk';

const ${client} = ${create}({
  apiKey: process.env.${keyVariable} ?? '',
  baseUrl: ${literal(baseUrl.replace(/\/+$/, ''))},
});

${call}
console.log(result);`;
}

/** JSON as a TypeScript literal: single quotes, bare keys, and on one line if it is short. */
function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map(literal)
    : Object.entries(value).map(
        ([key, one]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : literal(key)}: ${literal(one)}`,
      );
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  const short = isArray ? `[${items.join(', ')}]` : `{ ${items.join(', ')} }`;
  if (short.length <= 60 && !short.includes('\n')) return short;
  return `${open}${items.map((item) => `\n  ${indent(item)},`).join('')}\n${close}`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
