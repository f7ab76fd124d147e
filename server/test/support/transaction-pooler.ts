import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

export type TransactionPooler = {
  url: string;
  /** How often a client's next transaction ran on another server connection. */
  switches(): number;
  stop(): Promise<void>;
};

type Options = {
  /** The database behind it. */
  url: string;
  serverCount?: number;
  /** Like PgBouncer since 1.21: renames prepared statements and prepares them on the client's next server connection. */
  supportsPreparedStatements?: boolean;
};

type Message = { type: string; bytes: Buffer };
/** A Parse in flight; `isOurs` means the pooler sent it, so its reply is not forwarded. */
type Parsing = { name: string; isOurs: boolean };
type Server = { socket: Socket; prepared: Set<string>; parsing: Parsing[]; client: Client | null };
type Client = {
  socket: Socket;
  server: Server | null;
  lastServer: Server | null;
  statements: Map<string, { name: string; parse: Buffer }>;
  /** Messages waiting for a server connection. */
  queued: Message[];
  /** ReadyForQuery messages still to come. */
  outstanding: number;
};

// The parameters PgBouncer tracks; it refuses a client whose startup message has any other.
const startupParameters = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]);
const syncOrQuery = new Set(['S', 'Q']);

/**
 * A minimal pooler in transaction mode. Each transaction gets the server connection that has been idle longest, so code
 * that relies on session state fails reliably. Accepts any client; for tests only.
 */
export async function startTransactionPooler(options: Options): Promise<TransactionPooler> {
  const { url, serverCount = 4, supportsPreparedStatements = true } = options;
  const clients = new Set<Client>();
  const servers = new Set<Server>();
  const idle: Server[] = [];
  const waiting: Client[] = [];
  let opening = 0;
  let switches = 0;

  /** Lets `pg` log in with whatever method the server asks for, then takes over its socket. */
  async function openServer(): Promise<void> {
    opening += 1;
    const login = new pg.Client({ connectionString: url, application_name: 'pooler' });
    login.on('error', () => {});
    await login.connect();
    const { stream } = (login as unknown as { connection: { stream: Socket } }).connection;
    for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event);
    const server: Server = { socket: stream, prepared: new Set(), parsing: [], client: null };
    stream.on('error', () => {});
    stream.on('close', () => {
      servers.delete(server);
      if (idle.includes(server)) idle.splice(idle.indexOf(server), 1);
      server.client?.socket.destroy();
    });
    stream.on(
      'data',
      readMessages((message) => fromServer(server, message)),
    );
    servers.add(server);
    opening -= 1;
    idle.push(server);
    assign();
  }

  function assign(): void {
    while (waiting.length > 0) {
      const server = idle.shift();
      if (!server) {
        if (servers.size + opening < serverCount) openServer().catch(() => waiting.shift()?.socket.destroy());
        return;
      }
      const client = waiting.shift() as Client;
      if (client.lastServer && client.lastServer !== server) switches += 1;
      client.server = server;
      client.lastServer = server;
      server.client = client;
      for (const message of client.queued.splice(0)) toServer(client, server, message);
    }
  }

  function release(server: Server): void {
    if (server.client) server.client.server = null;
    server.client = null;
    server.parsing = [];
    idle.push(server);
    assign();
  }

  function fromServer(server: Server, { type, bytes }: Message): void {
    if (type === '1') {
      const parsing = server.parsing.shift();
      if (parsing?.name) server.prepared.add(parsing.name);
      if (parsing?.isOurs) return;
    }
    const { client } = server;
    client?.socket.write(bytes);
    if (type !== 'Z' || !client) return;
    client.outstanding -= 1;
    if (client.outstanding === 0 && bytes[5] === 'I'.charCodeAt(0)) release(server);
  }

  function fromClient(client: Client, message: Message): void {
    if (message.type === 'X') {
      client.socket.end();
      return;
    }
    if (syncOrQuery.has(message.type)) client.outstanding += 1;
    if (client.server) toServer(client, client.server, message);
    else {
      client.queued.push(message);
      if (!waiting.includes(client)) waiting.push(client);
      assign();
    }
  }

  function toServer(client: Client, server: Server, { type, bytes }: Message): void {
    const named = supportsPreparedStatements ? nameIn(type, bytes) : null;
    if (type === 'P' && named) {
      const key = createHash('sha256').update(bytes.subarray(named.end)).digest('hex');
      const name = `pooled_${key.slice(0, 16)}`;
      const parse = rename(bytes, named, name);
      client.statements.set(named.name, { name, parse });
      if (server.prepared.has(name)) client.socket.write(Buffer.from('3100000004', 'hex'));
      else prepare(server, { name, isOurs: false }, parse);
      return;
    }
    const statement = named ? client.statements.get(named.name) : undefined;
    if (named && statement) {
      if (
        !server.prepared.has(statement.name) &&
        !server.parsing.some(({ name }) => name === statement.name)
      ) {
        prepare(server, { name: statement.name, isOurs: true }, statement.parse);
      }
      server.socket.write(rename(bytes, named, statement.name));
      return;
    }
    if (type === 'P') server.parsing.push({ name: '', isOurs: false });
    server.socket.write(bytes);
  }

  function prepare(server: Server, parsing: Parsing, parse: Buffer): void {
    server.parsing.push(parsing);
    server.socket.write(parse);
  }

  const proxy = createServer((socket) => {
    const client: Client = {
      socket,
      server: null,
      lastServer: null,
      statements: new Map(),
      queued: [],
      outstanding: 0,
    };
    clients.add(client);
    socket.on('error', () => {});
    socket.on('close', () => {
      clients.delete(client);
      if (waiting.includes(client)) waiting.splice(waiting.indexOf(client), 1);
      client.server?.socket.destroy(); // mid-transaction: the server rolls it back
    });
    socket.once('data', (start) => answerStartup(socket, start, (message) => fromClient(client, message)));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const database = new URL(url).pathname;

  return {
    url: `postgresql://pooled@127.0.0.1:${port}${database}?sslmode=disable`,
    switches: () => switches,
    async stop() {
      const closed = once(proxy, 'close');
      proxy.close();
      for (const { socket } of [...clients, ...servers]) socket.destroy();
      await closed;
    },
  };
}

/** Answers a client's startup message, which has no type byte. */
function answerStartup(socket: Socket, start: Buffer, onMessage: (message: Message) => void): void {
  const words = start.subarray(8, start.readInt32BE(0)).toString().split('\0');
  const names = words.filter((_, index) => index % 2 === 0 && words[index] !== '');
  const unknown = names.find((name) => !startupParameters.has(name.toLowerCase()));
  if (unknown) {
    const fields = ['SFATAL', 'VFATAL', 'C08P01', `Munsupported startup parameter: ${unknown}`, ''];
    socket.end(message('E', Buffer.from(`${fields.join('\0')}\0`)));
    return;
  }
  socket.on('data', readMessages(onMessage));
  socket.write(
    Buffer.concat([
      message('R', Buffer.alloc(4)),
      message('S', Buffer.from('client_encoding\0UTF8\0')),
      message('K', randomBytes(8)),
      message('Z', Buffer.from('I')),
    ]),
  );
}

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** Splits a stream into messages. */
function readMessages(onMessage: (message: Message) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const end = 1 + rest.readInt32BE(1);
      if (rest.length < end) return;
      const bytes = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage({ type: String.fromCharCode(bytes[0] as number), bytes });
    }
  };
}

type Named = { name: string; start: number; end: number };

/** Where a message names a prepared statement: Parse, Bind after its portal, Describe and Close of a statement. */
function nameIn(type: string, bytes: Buffer): Named | null {
  let start = 5;
  if (type === 'B') start = bytes.indexOf(0, 5) + 1;
  else if ((type === 'D' || type === 'C') && bytes[5] === 'S'.charCodeAt(0)) start = 6;
  else if (type !== 'P') return null;
  const end = bytes.indexOf(0, start);
  const name = bytes.toString('utf8', start, end);
  return name === '' ? null : { name, start, end };
}

function rename(bytes: Buffer, { start, end }: Named, name: string): Buffer {
  const renamed = Buffer.concat([bytes.subarray(0, start), Buffer.from(name), bytes.subarray(end)]);
  renamed.writeInt32BE(renamed.length - 1, 1);
  return renamed;
}
