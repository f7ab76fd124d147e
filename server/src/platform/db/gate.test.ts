import { expect, test, vi } from 'vitest';
import { type Closure, createGate } from './gate.ts';
import { DatabaseUnavailable } from './unavailable.ts';

test('while commits hang, reads pass at once and writes wait until the gate opens', async () => {
  const told: (string | null)[] = [];
  const gate = createGate((closure: Closure | null) => told.push(closure?.reason ?? null));
  const [read, write] = [() => gate.pass(true), () => gate.pass(false)];
  gate.close({ reason: 'a standby is down', admits: 'reads' });
  await read();
  const passed: string[] = [];
  const waiting = write().then(() => passed.push('write'));
  await read();
  expect(passed).toEqual([]);
  gate.open();
  await waiting;
  await write();
  expect(told).toEqual(['a standby is down', null]);
});

test('what waits longer than a second is refused with the reason of that moment', async () => {
  const gate = createGate(() => {});
  gate.close({ reason: 'a standby is down', admits: 'reads' });
  const write = gate.pass(false);
  gate.close({ reason: 'no server answers', admits: 'nothing' });
  const read = gate.pass(true);
  for (const refused of [write, read]) {
    const error = await refused.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect((error as Error).message).toContain('no server answers');
  }
});

test('what waits passes as soon as the gate opens, also if the reason changed meanwhile, which is told once', async () => {
  const told: (string | null)[] = [];
  const gate = createGate((closure) => told.push(closure?.reason ?? null));
  gate.close({ reason: 'a standby is down', admits: 'reads' });
  let hasPassed = false;
  const write = gate.pass(false).then(() => {
    hasPassed = true;
  });
  for (let n = 0; n < 2; n++) gate.close({ reason: 'no server answers', admits: 'nothing' });
  gate.open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasPassed).toBe(true);
  await write;
  expect(told).toEqual(['a standby is down', 'no server answers', null]);
});

test('a gate that was never closed is not told as opened', () => {
  const told: unknown[] = [];
  createGate((closure) => told.push(closure)).open();
  expect(told).toEqual([]);
});

test('what waited leaves no timer behind, which would keep a command alive', async () => {
  vi.useFakeTimers();
  const gate = createGate(() => {});
  gate.close({ reason: 'a standby is down', admits: 'reads' });
  const write = gate.pass(false);
  gate.open();
  await write;
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
