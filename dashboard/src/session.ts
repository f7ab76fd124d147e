/** Signing in and out. The cookie is out of reach for scripts; the CSRF token is kept in memory only. */

const path = '/dashboard/api/session';

export type Session = { csrfToken: string; scopes: string[] };

/** Why signing in was refused, in the server's words. */
class SignInError extends Error {}

/** The session of the cookie; null if nobody is signed in. */
export async function resumeSession(): Promise<Session | null> {
  const response = await fetch(path).catch(() => null);
  // 421: its account is in another cell now, which wants a new sign-in.
  if (response?.status === 204 || response?.status === 421) return null;
  if (response?.ok) return read(response);
  throw new Error(response ? await reasonIn(response) : 'The server does not answer.');
}

export async function signIn(by: { api_key: string } | { link: string }): Promise<Session> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...cellHeader('link' in by ? by.link : by.api_key) },
    body: JSON.stringify(by),
  });
  if (response.ok) return read(response);
  throw new SignInError(await reasonIn(response));
}

/** Why a request was refused, in the server's words. */
async function reasonIn(response: Response): Promise<string> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  return error?.message ?? `The server answered ${response.status}.`;
}

export async function signOut({ csrfToken }: Session): Promise<void> {
  await fetch(path, { method: 'DELETE', headers: { 'X-CSRF-Token': csrfToken } });
}

async function read(response: Response): Promise<Session> {
  const { csrf_token: csrfToken, scopes } = (await response.json()) as {
    csrf_token: string;
    scopes: string[];
  };
  return { csrfToken, scopes };
}

const labelled = /^(?:sp_(?:test|live)_([a-z]{2,8})_[0-9A-Za-z]{38}|([a-z]{2,8})\.[\w-]{43})$/;

/** The label of a key's or link's cell, for a router in front of several: it does not read bodies. */
export function cellHeader(text: string): Record<string, string> {
  const [, ofKey, ofLink] = labelled.exec(text) ?? [];
  const label = ofKey ?? ofLink;
  return label === undefined ? {} : { 'Service-Cell': label };
}
