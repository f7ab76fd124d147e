/**
 * Runs as a child process, because it holds as many sockets as the server does. Each of `hanging` ports reads requests and
 * never answers; on each of `dead` ports nothing listens. A message from the parent closes every connection.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

const [hanging = 0, dead = 0] = process.argv.slice(2).map(Number);
const sockets = new Set<Socket>();

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const all = await Promise.all(Array.from({ length: hanging + dead }, listen));
for (const { server } of all.slice(hanging)) server.close();
const ports = all.map(({ port }) => port);

process.on('message', () => {
  for (const socket of sockets) socket.destroy();
});
process.on('disconnect', () => process.exit());
process.send?.({ hanging: ports.slice(0, hanging), dead: ports.slice(hanging) });
