import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { socketDirOf } from './observe.ts';

const probe = `
const socket = require('node:net').connect(process.argv[1]);
const fields = Buffer.from('user\\0postgres\\0database\\0postgres\\0\\0');
const head = Buffer.alloc(8);
head.writeInt32BE(8 + fields.length, 0);
head.writeInt32BE(196608, 4);
socket.write(Buffer.concat([head, fields]));
socket.once('data', (answer) => {
  const kind = String.fromCharCode(answer[0]);
  console.log(kind === 'R' ? kind + answer.readInt32BE(5) : kind);
  socket.destroy();
});
`;

/**
 * What PostgreSQL requests from a client that has this uid and says it is `postgres`: R0 no authentication, R10 a password (SASL).
 * E is a refusal. The client should be PostgreSQL's own user, who can enter the socket folder.
 */
export async function requestedAuthentication(
  node: string,
  connectionString: string,
  { uid, gid }: { uid: number; gid: number },
): Promise<string> {
  const path = `${socketDirOf(connectionString)}/.s.PGSQL.5432`;
  const { stdout } = await promisify(execFile)(node, ['-e', probe, path], {
    ...(uid === process.getuid?.() ? {} : { uid, gid }),
    cwd: '/',
  });
  return stdout.trim();
}
