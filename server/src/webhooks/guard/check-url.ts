import { clip } from '../../clip.ts';
import { isAllowedAddress } from './is-allowed.ts';
import type { AddressPolicy } from './policy.ts';
import { addressesOf, type ResolveName, resolveBySystem } from './resolve-name.ts';

type Checked = { ok: true; url: string } | { ok: false; why: string };

/** Long enough for a cold look-up across the world; a creation must not hang on somebody's name server. */
const lookupTimeoutMs = 2_000;

/**
 * Is this a URL that webhooks may be sent to? For the creation of an endpoint: every connect is checked again.
 * Answers with the URL as the connecting client will read it, without a fragment.
 */
export async function checkUrl(
  text: string,
  policy: AddressPolicy,
  resolve: ResolveName = resolveBySystem,
): Promise<Checked> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const schemes = policy.allowsHttp ? '`https` and `http`' : '`https`';
  if (!url) return refused(`“${clip(text)}” is not a URL; ${schemes} URLs with a host are allowed.`);
  if (url.protocol !== 'https:' && !(policy.allowsHttp && url.protocol === 'http:')) {
    return refused(`\`${clip(url.protocol.slice(0, -1))}\` URLs are not allowed; ${schemes} URLs are.`);
  }
  if (url.username !== '' || url.password !== '') {
    return refused('A user name or password in the URL is not allowed; deliveries are signed instead.');
  }
  if (url.port === '0') return refused('Port 0 is not allowed; ports 1 to 65535 are.');
  url.hash = '';

  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  for (const address of await addressesWithin(lookupTimeoutMs, hostname, resolve)) {
    const verdict = isAllowedAddress(address, policy);
    if (!verdict.allowed) return refused(`${subject(hostname, address)} is refused: ${verdict.why}.`);
  }
  return { ok: true, url: url.href };
}

function refused(why: string): Checked {
  return { ok: false, why };
}

function subject(hostname: string, address: string): string {
  return hostname === address ? address : `An address that ${clip(hostname)} resolves to`;
}

/** Names that mean one address wherever they mean anything, so a look-up that fails here does not let them in. */
const fixedNames: readonly [RegExp, string][] = [
  [/^(.+\.)?localhost$/, '127.0.0.1'],
  [/^(metadata\.(google\.internal|goog|azure\.internal)|instance-data\.ec2\.internal)$/, '169.254.169.254'],
];

/** None for a name that does not resolve in time: its server may not be set up yet. */
async function addressesWithin(
  timeoutMs: number,
  hostname: string,
  resolve: ResolveName,
): Promise<readonly string[]> {
  const bare = hostname.replace(/\.$/, '');
  const fixed = fixedNames.filter(([pattern]) => pattern.test(bare)).map(([, address]) => address);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string[]>((settle) => {
    timer = setTimeout(settle, timeoutMs, []);
  });
  const answers = await Promise.race([addressesOf(hostname, resolve).catch(() => []), timeout]);
  clearTimeout(timer);
  return answers.length > 0 ? answers : fixed;
}
