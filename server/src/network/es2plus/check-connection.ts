import { shakeHands } from '../shake-hands.ts';
import { type ClientOptions, createEs2Client } from './client.ts';
import { explainHandshake } from './explain-handshake.ts';
import { es2Functions } from './functions.ts';
import { readAnswer, writeRequest } from './messages.ts';

type Options = Pick<ClientOptions, 'url' | 'tls' | 'protocolVersion'> & {
  requesterId: string;
  padsIccids: boolean;
  timeoutMs: number;
};

/** `doubtful`: connected, but the answer does not prove that ES2+ is served there. */
export type ConnectionCheck =
  | { kind: 'ok' | 'doubtful'; peerEndsAt: Date; says: string }
  | { kind: 'failed'; says: string };

/**
 * A handshake with our certificate, then one request without effect: it releases ICCID 0000000000000000000, which no profile can
 * have, because every ICCID starts with 89 (ITU-T E.118). Only a request shows that the path is right, and that a peer with TLS 1.3
 * accepts our certificate: it may reject one after the client has finished the handshake.
 */
export async function checkConnection(options: Options): Promise<ConnectionCheck> {
  const { host } = new URL(options.url);
  const shaken = await shakeHands(options);
  if (shaken.kind === 'failed') {
    const why = explainHandshake({ ...shaken, hasAuthorities: options.tls.ca !== null });
    return { kind: 'failed', says: `${host}: ${why} (${shaken.cause})` };
  }
  const judged = await tryRequest(options);
  const says = `${host} ${judged.says}`;
  if (judged.kind === 'failed') return { kind: 'failed', says };
  return { kind: judged.kind, peerEndsAt: new Date(shaken.peer?.valid_to ?? Number.NaN), says };
}

type Judged = { kind: 'ok' | 'doubtful' | 'failed'; says: string };

async function tryRequest({ requesterId, padsIccids, timeoutMs, ...rest }: Options): Promise<Judged> {
  const client = createEs2Client({ ...rest, connectTimeoutMs: timeoutMs });
  const header = { functionRequesterIdentifier: requesterId, functionCallIdentifier: 'simplane-doctor' };
  const iccid = `${'0'.repeat(19)}${padsIccids ? 'F' : ''}`;
  const { path } = es2Functions.releaseProfile;
  try {
    const posted = await client.post(path, writeRequest('releaseProfile', header, { iccid }), {
      signal: AbortSignal.timeout(timeoutMs),
      isFresh: true,
    });
    if (posted.kind === 'answered')
      return judge(posted, new URL(rest.url).pathname.replace(/\/$/, '') + path);
    if (posted.why === 'not-json')
      return { kind: 'failed', says: `answers, but not with JSON; ${checkPath}` };
    if (posted.why === 'too-large')
      return { kind: 'failed', says: `answers, but with more than an ES2+ message; ${checkPath}` };
    if (posted.why === 'timeout') {
      return { kind: 'failed', says: `completes the handshake but gives no answer within ${timeoutMs} ms` };
    }
    const why = 'closed the connection after the handshake; it probably does not accept SIMPLANE_ES2_CERT';
    return { kind: 'failed', says: `${why} (${posted.error})` };
  } finally {
    await client.close();
  }
}

const checkPath = 'check the path in SIMPLANE_ES2_URL';

function judge({ status, json }: { status: number; json: unknown }, path: string): Judged {
  if (status === 200) {
    return readAnswer('releaseProfile', json).kind === 'unreadable'
      ? { kind: 'failed', says: `answers at ${path}, but not in the format of ES2+; ${checkPath}` }
      : { kind: 'ok', says: `accepts our certificate and serves ES2+ at ${path}` };
  }
  const answered = `answers HTTP ${status} at ${path}`;
  if (status === 401 || status === 403) {
    return {
      kind: 'failed',
      says: `${answered}: it does not let this client in; ask whether it knows our certificate`,
    };
  }
  if (status >= 502 && status <= 504) {
    return { kind: 'failed', says: `${answered}: its gateway is up, but the SM-DP+ behind it is down` };
  }
  if (status === 404 || status === 405 || status === 410 || (status >= 300 && status < 400)) {
    return { kind: 'failed', says: `${answered}: ES2+ is not there; ${checkPath}` };
  }
  return { kind: 'doubtful', says: `${answered} to a request it should refuse with HTTP 200; ${checkPath}` };
}
