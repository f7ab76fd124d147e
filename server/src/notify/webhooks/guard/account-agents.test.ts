import type { Agent } from 'undici';
import { expect, test, vi } from 'vitest';
import { createAccountAgents } from './account-agents.ts';

test('agents that are being closed are destroyed with the others, and those that are closed are not', async () => {
  const made: { close: () => void; agent: Agent }[] = [];
  const agents = createAccountAgents(() => {
    let close = () => {};
    const closing = new Promise<void>((resolve) => {
      close = resolve;
    });
    const agent = { close: () => closing, destroy: vi.fn(async () => {}) } as unknown as Agent;
    made.push({ agent, close });
    return agent;
  }, 1);
  for (const account of ['a', 'b', 'c']) agents.agentOf(account);
  made[0]?.close();
  await new Promise((resolve) => setImmediate(resolve));
  await agents.destroy();
  expect(made.map(({ agent }) => vi.mocked(agent.destroy).mock.calls.length)).toEqual([0, 1, 1]);
});
