import { createHmac, type KeyObject } from 'node:crypto';

/** `Service-Signature`: an HMAC over `<t>.<body>` with the whole secret as key, one `v1` per active secret. */
export function serviceSignature(
  secrets: readonly (string | KeyObject)[],
  atSeconds: number,
  body: string,
): string {
  const signed = secrets.map((secret) => {
    const hex = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex');
    return `v1=${hex}`;
  });
  return [`t=${atSeconds}`, ...signed].join(',');
}
