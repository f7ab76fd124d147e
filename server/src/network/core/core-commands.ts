import { request } from 'undici';
import { serviceSignature } from '../../platform/secrets/service-signature.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import type { PeerState } from '../peer-state.ts';
import type { Call, Core, Done, Network, Refusal, Reply } from '../port.ts';

const maxBytes = 64 * 1024;

type Command = 'suspend' | 'resume';
type Sent = { name: string; id: string; body: string; signal: AbortSignal };

type Options = {
  /** Null if no core is connected: then every command fails with that reason. */
  url: string | null;
  secret: string | null;
  userAgent: string;
  /** Seconds since 1970, for the signature. */
  nowSeconds(): number;
  /** Remembers for the operator how the last commands went. */
  state?: PeerState;
  /** Logs failures for the operator, with the host and the setting, which the command's error does not name. */
  onTrouble?(details: object): void;
};

/**
 * What is up to the operator's core: an SM-DP+ only provides profiles. A command is one signed POST. Its id is the same for every
 * repetition, so a core can deduplicate by it.
 */
// The core's and the SM-DP+'s host names are resolved with getaddrinfo, on libuv's thread pool: they are the operator's and
// may need nsswitch. Tenants' host names never enter that pool (webhooks/names/).
export function createCoreCommands(options: Options): Pick<Network, Command> & Core {
  return {
    suspend: (call) => command(options, 'suspend', call),
    resume: (call) => command(options, 'resume', call),
    async setService(call) {
      const reply = await post(options, { name: 'set_service', ...call });
      return reply.kind === 'failed' ? { ...reply, ...outageOf(reply.reason) } : reply;
    },
  };
}

function command(options: Options, name: Command, { id, attempt, iccid, signal }: Call & { iccid: string }) {
  const body = JSON.stringify({ id, command: name, iccid, attempt });
  return post(options, { name, id, body, signal });
}

/** Without an answer of the core itself, other eSIMs are likely to get none either. */
function outageOf({ upstream }: Refusal): { isDown?: true; isUnreached?: true } {
  const status = Number(upstream?.['status']);
  if (upstream === undefined) return { isDown: true, isUnreached: true };
  return status >= 502 && status <= 504 ? { isDown: true } : {};
}

async function post(
  { url, secret, userAgent, nowSeconds, state, onTrouble }: Options,
  { name, id, body, signal }: Sent,
): Promise<Reply<Done>> {
  if (url === null || secret === null) {
    onTrouble?.({
      command: name,
      id,
      remedy: 'set SIMPLANE_CORE_URL and SIMPLANE_CORE_SECRET on this worker',
    });
    return failed('the deployment is not connected to it; ask the operator to connect it', {
      detail: 'This worker has no SIMPLANE_CORE_URL.',
    });
  }
  const { host } = new URL(url);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': userAgent,
    'idempotency-key': id,
    'service-signature': serviceSignature([secret], nowSeconds(), body), // same format as webhooks
  };
  const startedMs = performance.now();
  try {
    const { statusCode, body: answer } = await request(url, { method: 'POST', headers, body, signal });
    const isGateway = statusCode >= 502 && statusCode <= 504;
    if (isGateway) state?.failed(`HTTP ${statusCode}`, { isGateway });
    else state?.answered(performance.now() - startedMs, statusCode < 300 ? null : `HTTP ${statusCode}`);
    if (statusCode >= 200 && statusCode < 300) {
      answer.dump({ limit: maxBytes }).catch(() => {}); // only the status matters
      return { kind: 'done', result: {} };
    }
    onTrouble?.({ command: name, id, host, status: statusCode });
    return replyOf(name, host, statusCode, await readStart(answer, maxBytes));
  } catch (error) {
    const why = signal.aborted ? 'no answer in time' : causeOf(error);
    state?.failed(why);
    onTrouble?.({ command: name, id, host, error: why });
    const cause = signal.aborted ? why : 'it could not be reached';
    return failed(cause, { host, detail: `${host} did not execute the command: ${why}.` });
  }
}

/** Statuses that ask for a retry (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const temporary = [408, 425, 429];

/** A refusal is a 4xx with a JSON message. A 4xx without one comes from a gateway or the like, and may be temporary. */
function replyOf(name: string, host: string, status: number, text: string): Reply<never> {
  const message = messageIn(text);
  const upstream = { status: String(status), ...(message !== null && { message }) };
  const isRefusal = status >= 400 && status < 500 && !temporary.includes(status) && message !== null;
  if (!isRefusal)
    return failed(status < 400 ? `a redirect (${status}), not followed` : `HTTP ${status}`, {
      host,
      upstream,
    });
  const code = status === 409 ? 'state_conflict' : 'declined';
  return {
    kind: 'refused',
    reason: {
      code,
      message: `The operator’s core refused to ${verbs[name]} the eSIM: ${message}`,
      host,
      upstream,
    },
  };
}

const verbs: Record<string, string> = { suspend: 'suspend', resume: 'resume', set_service: 'change' };

type Details = Pick<Refusal, 'detail' | 'host' | 'upstream'>;

function failed(why: string, details: Details): Reply<never> {
  const message = `The operator’s core did not execute the command: ${why}.`;
  return { kind: 'failed', reason: { code: 'network_unavailable', message, ...details } };
}

const maxMessageLength = 300;

/** The core's message, truncated and without characters that cannot be stored. */
function messageIn(text: string): string | null {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message !== 'string') return null;
    const clean = message.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim();
    return clean === '' ? null : clip(clean, maxMessageLength);
  } catch {
    return null;
  }
}

function causeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return code ?? cause?.code ?? name;
}

/** The first bytes of a body. The rest is not read, and the connection is closed. */
async function readStart(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break; // leaving the loop destroys the stream
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}
