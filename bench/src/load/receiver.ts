/** A webhook receiver; runs as a child process. Answers 200 at once and records the time of each event. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveTasks } from '../support/child.ts';
import { receiptTasks, record } from './receipts.ts';

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    record(String(request.headers['webhook-id']));
    response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');

serveTasks({
  address: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  ...receiptTasks,
});
