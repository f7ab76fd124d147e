import { expect, test, vi } from 'vitest';
import { createGuardedAgent } from './connector.ts';

const ports = vi.hoisted(() => [] as number[]);

vi.mock('./open-socket.ts', async (original) => ({
  ...(await original<object>()),
  openSocket({ port }: { port: number }) {
    ports.push(port);
    throw new Error('not connected');
  },
}));

test.each([
  ['http://a.example/', 80],
  ['https://a.example/', 443],
  ['https://a.example:8443/', 8_443],
])('a request to %s connects to port %i', async (url, port) => {
  ports.length = 0;
  const agent = createGuardedAgent({ allowsHttp: true, allowsPrivate: false, allowedCidrs: [] });
  const request = { origin: new URL(url).origin, path: '/', method: 'POST' as const, addresses: ['9.9.9.9'] };
  await expect(agent.request(request)).rejects.toThrow('not connected');
  expect(ports).toEqual([port]);
  await agent.destroy();
});
