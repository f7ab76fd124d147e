import type { DocOperation } from './document.ts';
import { sampleRequest } from './sample-request.ts';

/** A curl command ready to paste. */
export function curlSample(operation: DocOperation, baseUrl: string): string {
  const { method, keyVariable, path, idempotencyKey, body } = sampleRequest(operation);
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const lines = [`curl ${isImplied ? '' : `-X ${method} `}${quote(baseUrl.replace(/\/+$/, '') + path)}`];
  lines.push(`-H "Authorization: Bearer $${keyVariable}"`);
  if (idempotencyKey !== undefined) lines.push(`-H ${quote(`Idempotency-Key: ${idempotencyKey}`)}`);
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d ${quote(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`);
  }
  return lines.join(' \\\n  ');
}

/** Shell-quotes the text in single quotes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
