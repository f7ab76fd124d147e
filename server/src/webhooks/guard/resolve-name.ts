import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Every A and AAAA answer for a name; rejects when there is none. */
export type ResolveName = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export const resolveBySystem: ResolveName = (hostname) => lookup(hostname, { all: true });

/** The addresses behind a host: itself when it is a literal. */
export async function addressesOf(hostname: string, resolve: ResolveName): Promise<string[]> {
  if (isIP(hostname)) return [hostname];
  // Copied: what was checked is then what is connected to, whatever happens to the answer.
  return (await resolve(hostname)).map(({ address }) => address);
}

/**
 * One question per name at a time. The system's resolver holds a thread of a small pool until it gives up, so
 * retries to a name whose server hangs would otherwise take them all from the other names.
 */
export function sharingQuestions(resolve: ResolveName): ResolveName {
  const open = new Map<string, ReturnType<ResolveName>>();
  return (hostname) => {
    const asked = open.get(hostname);
    if (asked) return asked;
    const question = resolve(hostname).finally(() => open.delete(hostname));
    open.set(hostname, question);
    return question;
  };
}
