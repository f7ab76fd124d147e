import { ProtocolErrorCode } from '@modelcontextprotocol/server';

// Responses echo these texts, some of them twice. Our own names and URIs are far shorter.
const maxTextLength = 256;
// The tool list is 17 kB or more, so a 6 kB batch of 100 requests for it produced 1.75 MB.
const maxMessages = 10;

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** Returns an error response if the body is a large batch or has long texts that responses echo, otherwise null. */
export function refuseExcess(body: unknown): Response | null {
  const messages = Array.isArray(body) ? body : [body];
  if (messages.length > maxMessages) return refusal(`A batch has at most ${maxMessages} messages.`);
  for (const message of messages) {
    for (const [name, value] of echoedTexts(message)) {
      if (typeof value !== 'string' || value.length <= maxTextLength) continue;
      return refusal(`${name} is longer than ${maxTextLength} characters.`);
    }
  }
  return null;
}

function echoedTexts(message: unknown): [name: string, value: unknown][] {
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
