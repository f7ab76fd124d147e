import { ProtocolErrorCode } from '@modelcontextprotocol/server';

// Answers repeat these texts, some of them twice. No name or URI of ours comes near.
const maxTextLength = 256;
// A list of the tools has 17 kB, so a batch of 100 requests for it made 1.75 MB out of 6 kB.
const maxMessages = 10;

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** The error for a body whose answer would repeat too much of it, or be too many answers; null for all others. */
export function refuseExcess(body: unknown): Response | null {
  const messages = Array.isArray(body) ? body : [body];
  if (messages.length > maxMessages) return refusal(`A batch has at most ${maxMessages} messages.`);
  for (const message of messages) {
    for (const [name, value] of repeatedTexts(message)) {
      if (typeof value !== 'string' || value.length <= maxTextLength) continue;
      return refusal(`${name} is longer than ${maxTextLength} characters.`);
    }
  }
  return null;
}

function repeatedTexts(message: unknown): [name: string, value: unknown][] {
  const { id, method, params } = fieldsOf(message);
  const { name, uri, protocolVersion, _meta } = fieldsOf(params);
  const meta = fieldsOf(_meta);
  return [
    ['id', id],
    ['method', method],
    ['params.name', name],
    ['params.uri', uri],
    ['params.protocolVersion', protocolVersion],
    ['params._meta.progressToken', meta['progressToken']],
    [`params._meta["${versionKey}"]`, meta[versionKey]],
  ];
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function refusal(message: string): Response {
  const error = { code: ProtocolErrorCode.InvalidRequest, message };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}
