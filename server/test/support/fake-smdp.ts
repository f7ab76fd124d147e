import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import luhn from 'luhn';
import { type Es2FunctionName, es2Functions } from '../../src/network/es2plus/functions.ts';
import { readRequest } from '../../src/network/es2plus/messages.ts';
import { stopServer } from './stop-server.ts';

type State = 'Available' | 'Allocated' | 'Confirmed' | 'Released' | 'Downloaded' | 'Unavailable';

/** `reservations` counts how often the profile was reserved. */
type Profile = {
  iccid: string;
  profileType: string;
  state: State;
  reservations: number;
  matchingId: string | null;
  eid: string | null;
};

type Name = Exclude<Es2FunctionName, 'handleDownloadProgressInfo'>;
export type SmdpCall = {
  name: Name;
  callId: string;
  profileType: string;
  body: Record<string, unknown>;
  headers: Record<string, unknown>;
};

/**
 * A fault in one call. `lose`, `hang`, `truncate`, `html`, `huge`, `twice` and a status with `isDone` do the work first and
 * break only the reply. `reset` and a status without `isDone` skip the work.
 */
export type Mischief =
  | 'lose'
  | 'hang'
  | 'truncate'
  | 'html'
  | 'huge'
  | 'twice'
  | 'reset'
  | { status: number; isDone: boolean }
  | { code: string }
  | { expired: true }
  | { answer: object };

type Options = {
  /** `takesAnyone`: asks clients for no certificate. */
  tls: { cert: string; key: string; clientCa: string; takesAnyone?: boolean };
  port?: number;
  /** Answers a repeated functionCallIdentifier with its first answer. */
  recognisesCalls?: boolean;
  /** Error codes for a repeated confirmOrder; when unset, the first answer is repeated. */
  refusesRepeatedConfirm?: string;
  padsIccids?: boolean;
  /** smdpAddress in the confirmOrder reply; omitted when null. */
  smdpAddress?: string | null;
};

export type FakeSmdp = {
  url: string;
  port: number;
  calls: SmdpCall[];
  profiles: Map<string, Profile>;
  /** Profiles of a type that were ever reserved. */
  reservedOf(profileType: string): Profile[];
  /** Runs on every call and returns its fault. It may wait, and may kill the caller meanwhile. */
  onCall(behave: (call: SmdpCall) => Mischief | undefined | Promise<Mischief | undefined>): void;
  stop(): Promise<void>;
};

/**
 * An SM-DP+ that keeps a record of its profiles. It reads requests with the table of ES2+ functions and behaves as SGP.22
 * §5.3 and real servers do.
 */
export async function startFakeSmdp(options: Options): Promise<FakeSmdp> {
  const { recognisesCalls = false, padsIccids = false, smdpAddress = 'rsp.example.com' } = options;
  const profiles = new Map<string, Profile>();
  const calls: SmdpCall[] = [];
  const answered = new Map<string, object>();
  let behave: Parameters<FakeSmdp['onCall']>[0] = () => undefined;
  let serial = 0;

  const pad = (iccid: string) => (padsIccids ? iccid.padEnd(20, 'F') : iccid);

  function work(name: Name, json: unknown): object {
    const read = readRequest(name, json);
    if ('why' in read) return failed('1.6', '2.1', read.why);
    const { fields } = read as { fields: Record<string, string> };
    return name === 'downloadOrder' ? reserve(fields) : change(name, fields);
  }

  function reserve({ iccid, profileType = 'unnamed', eid }: Record<string, string>): object {
    const inStock = [...profiles.values()].find(
      (each) => each.state === 'Available' && each.profileType === profileType,
    );
    const wanted = iccid ?? inStock?.iccid ?? newIccid(serial++);
    const profile = profiles.get(wanted) ?? {
      iccid: wanted,
      profileType,
      state: 'Available',
      reservations: 0,
      matchingId: null,
      eid: null,
    };
    profiles.set(wanted, profile);
    if (profile.state !== 'Available') return failed('8.2.1', '3.3', 'not available');
    Object.assign(profile, { state: 'Allocated', reservations: profile.reservations + 1, eid: eid ?? null });
    return executed({ iccid: pad(wanted) });
  }

  function change(name: Name, fields: Record<string, unknown>): object {
    const profile = profiles.get(fields['iccid'] as string);
    if (!profile) return failed('8.2.1', '3.9', 'unknown');
    if (name === 'confirmOrder') return confirm(profile, fields);
    if (name === 'releaseProfile') {
      if (profile.state !== 'Confirmed') return failed('8.2.1', '3.5', 'cannot be released');
      profile.state = 'Released';
      return executed({});
    }
    if (!['Allocated', 'Confirmed', 'Released'].includes(profile.state))
      return failed('8.2.1', '3.3', 'not there');
    if (fields['matchingId'] !== undefined && fields['matchingId'] !== profile.matchingId) {
      return failed('8.2.6', '3.10', 'another matching id');
    }
    if (fields['eid'] !== undefined && fields['eid'] !== profile.eid)
      return failed('8.1.1', '3.10', 'another EID');
    profile.state = fields['finalProfileStatusIndicator'] as State;
    profile.matchingId = null;
    return executed({});
  }

  function confirm(profile: Profile, fields: Record<string, unknown>): object {
    const matchingId = (fields['matchingId'] as string | undefined) ?? `MID-${serial++}`;
    const answer = { matchingId, ...(smdpAddress !== null && { smdpAddress }) };
    if (profile.state !== 'Allocated') {
      if (options.refusesRepeatedConfirm) return codes(options.refusesRepeatedConfirm);
      return profile.matchingId === matchingId
        ? executed(answer)
        : failed('8.2.6', '3.10', 'another matching id');
    }
    profile.matchingId = matchingId;
    profile.state = fields['releaseFlag'] ? 'Released' : 'Confirmed';
    return executed(answer);
  }

  const server = createServer(
    {
      cert: options.tls.cert,
      key: options.tls.key,
      ca: options.tls.clientCa,
      requestCert: !options.tls.takesAnyone,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const name = (Object.keys(es2Functions) as Name[]).find(
          (key) => es2Functions[key].path === request.url,
        );
        if (!name || request.method !== 'POST') return void response.writeHead(404).end();
        handle(name, JSON.parse(Buffer.concat(chunks).toString()), request.headers).then(
          ({ mischief, answer }) => reply(response, request.socket as TLSSocket, mischief, answer),
          (error: Error) => response.destroy(error),
        );
      });
    },
  );

  async function handle(name: Name, body: Record<string, unknown>, headers: Record<string, unknown>) {
    const callId = (body['header'] as Record<string, string>)['functionCallIdentifier'] as string;
    const iccid = String(body['iccid'] ?? '').replace(/F+$/, '');
    const profileType = (body['profileType'] as string) ?? profiles.get(iccid)?.profileType ?? 'unnamed';
    const call = { name, callId, profileType, body, headers };
    calls.push(call);
    const mischief = await behave(call);
    if (mischief === 'reset') return { mischief, answer: {} };
    if (typeof mischief === 'object') {
      if ('code' in mischief) return { mischief: undefined, answer: codes(mischief.code) };
      if ('expired' in mischief) return { mischief: undefined, answer: header('Expired') };
      if ('status' in mischief && !mischief.isDone) return { mischief, answer: {} };
    }
    const answer = (recognisesCalls && answered.get(callId)) || work(name, body);
    answered.set(callId, answer);
    if (typeof mischief === 'object' && 'answer' in mischief) {
      return { mischief: undefined, answer: { ...executed({}), ...answer, ...mischief.answer } };
    }
    return { mischief, answer };
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    calls,
    profiles,
    reservedOf: (profileType) =>
      [...profiles.values()].filter((each) => each.profileType === profileType && each.reservations > 0),
    onCall: (next) => {
      behave = next;
    },
    stop: () => stopServer(server),
  };
}

function reply(
  response: ServerResponse,
  socket: TLSSocket,
  mischief: Mischief | undefined,
  answer: object,
): void {
  const body = JSON.stringify(answer);
  const json = { 'content-type': 'application/json' };
  if (mischief === 'lose' || mischief === 'reset') return void socket.destroy();
  if (mischief === 'hang') return;
  if (mischief === 'html') return void response.writeHead(200).end('<html>Gateway</html>');
  if (mischief === 'huge') return void response.writeHead(200, json).end(`{"x":"${'y'.repeat(1_000_000)}"}`);
  if (mischief === 'truncate') {
    response.writeHead(200, { ...json, 'content-length': String(body.length) });
    response.write(body.slice(0, 20));
    return void setImmediate(() => socket.destroy());
  }
  if (typeof mischief === 'object' && 'status' in mischief) {
    return void response.writeHead(mischief.status, { location: 'https://127.0.0.1:1/' }).end('<html>');
  }
  // In one write, so the second response arrives before the client can reuse the connection.
  if (mischief === 'twice') socket.cork();
  response.writeHead(200, json).end(body);
  if (mischief === 'twice') {
    const length = `content-length: ${body.length}`;
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}\r\n\r\n${body}`);
    socket.uncork();
  }
}

function executed(fields: object): object {
  return { ...header('Executed-Success'), ...fields };
}

function codes(code: string): object {
  const [subjectCode = '', reasonCode = ''] = code.split('/');
  return failed(subjectCode, reasonCode, 'as configured');
}

function failed(subjectCode: string, reasonCode: string, message: string): object {
  return header('Failed', { statusCodeData: { subjectCode, reasonCode, subjectIdentifier: 'x', message } });
}

function header(status: string, more: object = {}): object {
  return { header: { functionExecutionStatus: { status, ...more } } };
}

/** 19 digits including the check digit, in an unassigned range. */
export function newIccid(serial: number): string {
  const digits = `8999909${String(serial).padStart(11, '0')}`;
  for (let check = 0; check < 10; check++) {
    if (luhn.validate(digits + check)) return digits + check;
  }
  throw new Error('unreachable');
}
