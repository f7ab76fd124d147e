import type { Operation } from '@simplane/contract';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { apiWith, startService } from '../support/service.ts';

const operation: Operation = {
  method: 'POST',
  audit: { action: 'esim.updated', target: 'esim' },
  path: '/v1/probe/report',
  tag: 'Probes',
  summary: 'A probe',
  description: 'Only in this test.',
  scope: 'read',
  status: 200,
  body: Type.Object({ text: Type.Optional(Type.String()) }),
  bodyLimitBytes: 1024 * 1024,
  response: Type.Object({ ok: Type.Boolean() }),
  refusals: [],
};

test('large reports of one account wait for each other and are refused beyond a limit, while another’s is processed, and answered ones leave their room', async () => {
  let [attacker, begun] = ['', 0];
  const release: (() => void)[] = [];
  const report = async (_tx: unknown, ctx: { account: { uuid: string } }) => {
    if (ctx.account.uuid.replaceAll('-', '') === attacker) {
      begun += 1;
      await new Promise<void>((resolve) => release.push(resolve));
    }
    return { body: { ok: true } };
  };
  const api = apiWith({ operations: { report: operation }, handlers: { report } });
  const service = await startService({ api });
  try {
    attacker = service.accountUuid.replaceAll('-', '');
    const honest = { url: service.url, ...(await service.createAccount('Honest')) };
    let refused = 0;
    const attack = Array.from({ length: 50 }, async () => {
      const { status } = await call(service, 'POST', operation.path, { body: {} });
      if (status === 429) refused += 1;
      return status;
    });
    await expect.poll(() => refused).toBe(50 - 2 - 32);
    expect(begun).toBe(2);
    for (let i = 0; i < 10; i++)
      expect((await call(honest, 'POST', operation.path, { body: {} })).status).toBe(200);
    const releasing = setInterval(() => release.shift()?.(), 1);
    const statuses = await Promise.all(attack);
    clearInterval(releasing);
    expect(statuses.filter((status) => status === 200)).toHaveLength(34);
    // More than all accounts may have at once.
    const text = 'x'.repeat(1_000_000);
    for (let i = 0; i < 36; i++)
      expect((await call(honest, 'POST', operation.path, { body: { text } })).status).toBe(200);
  } finally {
    await service.stop();
  }
});
