import { createHmac, randomBytes } from 'node:crypto';
import { webhooks } from '@simplane/sdk';

const prefix = 'whsec_';

export function createSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** Whether it has the form of the service's secrets: `whsec_` and base64. */
export function isSecret(text: string): boolean {
  return /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(text);
}

/** The signature headers of the service's own deliveries, under both schemes. */
export async function signatureHeaders(
  secret: string,
  { id, body, atSeconds }: { id: string; body: string; atSeconds: number },
): Promise<Record<string, string>> {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64');
  return {
    'service-signature': await webhooks.sign(body, secret, { timestamp: atSeconds }),
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': `v1,${standard}`,
  };
}
