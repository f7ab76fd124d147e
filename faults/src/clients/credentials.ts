import type { Session } from '@simplane/contract';
import type { Credential } from '../history/history.ts';
import type { RunContext } from '../run-context.ts';
import { bearer, sendOnce } from './send.ts';
import { walk } from './walk.ts';

/** Signs in to the dashboard under this name. Null if there was no answer: then nobody has the cookie. */
export async function signIn(ctx: RunContext, account: number, name: string): Promise<Credential | null> {
  const url = ctx.deployment.apis[0]?.url();
  if (!url) return null;
  const answer = await fetch(`${url}/dashboard/api/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json', 'user-agent': name },
    body: JSON.stringify({ api_key: ctx.deployment.keys[account] }),
    signal: AbortSignal.timeout(ctx.answerTimeoutMs),
  }).catch(() => null);
  const [, token] = /=([\w-]{43});/.exec(answer?.headers.get('set-cookie') ?? '') ?? [];
  if (!token) return null;
  const sessions = await walk<Session>(ctx, { account, path: '/v1/sessions', limit: 100 });
  const id = sessions.find((session) => session.user_agent === name)?.id;
  if (!id) return null; // an old primary may not have it yet
  // The port is part of the cookie's name.
  const headersAt = (where: string) => ({ cookie: `simplane_session_${new URL(where).port}=${token}` });
  return keep(ctx, { account, id, headersAt, endedMs: null });
}

export function keepKey(ctx: RunContext, account: number, { id, key }: { id: string; key: string }) {
  return keep(ctx, { account, id, headersAt: () => bearer(key), endedMs: null });
}

function keep({ history }: RunContext, credential: Credential): Credential {
  history.credentials.push(credential);
  return credential;
}

/** Reads with it once at every API process; the check looks at the answers. */
export async function tryCredential(ctx: RunContext, credential: Credential): Promise<void> {
  const { account, id } = credential;
  const path = id.startsWith('sess_') ? '/dashboard/api/v1/me' : '/v1/me';
  await Promise.all(
    ctx.deployment.apis.map((_, at) => sendOnce(ctx, { account, credential, path, at }, ctx.answerTimeoutMs)),
  );
}
