/** Signing in and out. The cookie is out of reach for scripts; the CSRF token is kept in memory only. */

const path = '/dashboard/api/session';

export type Session = { csrfToken: string; scopes: string[] };

/** Why signing in was refused, in the server's words. */
class SignInError extends Error {}

/** The session of the cookie; null if nobody is signed in. */
export async function resumeSession(): Promise<Session | null> {
  const response = await fetch(path).catch(() => null);
  if (response?.status === 204) return null;
  if (response?.ok) return read(response);
  throw new Error(response ? `The server answered ${response.status}.` : 'The server does not answer.');
}

export async function signIn(by: { api_key: string } | { link: string }): Promise<Session> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(by),
  });
  if (response.ok) return read(response);
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  throw new SignInError(error?.message ?? `The server answered ${response.status}.`);
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
