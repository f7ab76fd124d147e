import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

type Zone = (name: string, type: string) => Answer;

/** `hang`: no reply is sent. */
export type Answer =
  | { a?: string[]; aaaa?: string[]; ttl?: number }
  | 'hang'
  | 'nxdomain'
  | 'servfail'
  | 'refused';

export type DnsServer = {
  /** `address:port`, the form the resolver takes. */
  address: string;
  /** Every question so far, as `A name` or `AAAA name`. */
  questions: string[];
  answer(zone: Zone): void;
  stop(): Promise<void>;
};

const types: Record<number, 'A' | 'AAAA' | 'NS'> = { 1: 'A', 2: 'NS', 28: 'AAAA' };
const codes = { servfail: 2, nxdomain: 3, refused: 5 };

/** A DNS server on loopback (RFC 1035 section 4 over UDP) that answers only from the test's zone. */
export async function startDnsServer(initial: Zone = () => 'nxdomain'): Promise<DnsServer> {
  let zone = initial;
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(message);
    questions.push(`${type} ${name}`);
    const answer = zone(name, type);
    if (answer === 'hang') return;
    socket.send(reply(message.subarray(0, end), type, answer), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    questions,
    answer: (next) => {
      zone = next;
    },
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = types[message.readUInt16BE(at + 1)] ?? 'other';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

function reply(question: Buffer, type: string, answer: Exclude<Answer, 'hang'>): Buffer {
  const records = typeof answer === 'string' ? [] : recordsOf(type, answer);
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? codes[answer] : 0), 2);
  for (const [offset, count] of [1, records.length, 0, 0].entries())
    header.writeUInt16BE(count, 4 + offset * 2);
  return Buffer.concat([header, question.subarray(12), ...records]);
}

function recordsOf(type: string, { a = [], aaaa = [], ttl = 60 }: Exclude<Answer, string>): Buffer[] {
  const values = type === 'A' ? a.map(bytesOfV4) : type === 'AAAA' ? aaaa.map(bytesOfV6) : [];
  return values.map((value) => {
    const fixed = Buffer.alloc(12);
    fixed.writeUInt16BE(0xc00c, 0); // the question's name
    fixed.writeUInt16BE(type === 'A' ? 1 : 28, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt32BE(ttl, 6);
    fixed.writeUInt16BE(value.length, 10);
    return Buffer.concat([fixed, value]);
  });
}

function bytesOfV4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** Expects all eight groups to be written out. */
function bytesOfV6(address: string): Buffer {
  return Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}
