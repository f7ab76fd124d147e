import { createHmac, randomBytes } from 'node:crypto';

/** The headers of a delivery, signed in both ways as Simplane does. */
export function createSigner() {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return (id: string, body: string) => {
    const at = Math.floor(Date.now() / 1_000);
    return {
      'content-type': 'application/json',
      'user-agent': 'Simplane/bench',
      'service-signature': `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`,
    };
  };
}
