import { createHmac, type KeyObject } from 'node:crypto';

/** `Service-Signature`: over `<t>.<body>`, keyed by the whole secret, one `v1` for each secret that is live. */
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
