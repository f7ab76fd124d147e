import { expect, test } from 'vitest';
import { buildLastRelease } from '../../server/test/support/last-release.ts';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { bundledRelease } from '../dist/deployment/processes.js';
import { type Fault, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 28;
const rounds = 3;

// The first one migrates the database beside the old ones. Both releases work together, one process goes back, and all end up new.
const steps = [
  ...(['upgrade worker-1', 'upgrade api-1', 'downgrade api-1'] as const),
  ...(['upgrade api-2', 'upgrade worker-2', 'upgrade api-1'] as const),
];
const faults = steps.map((step, index): Fault => {
  const [kind, process] = step.split(' ') as ['upgrade' | 'downgrade', string];
  // Far enough apart that customers do not have to wait for the next one.
  return { kind, process, jumpMs: 0, step: '', lasts: 0, after: 6 + 20 * index };
});

test('an upgrade from the last release, process by process and with a way back, fails no request and breaks no guarantee', async () => {
  const lastRelease = await buildLastRelease();
  const postgres = await startPostgres();
  try {
    const from = bundledRelease(lastRelease.programs);
    const keys = await prepareDatabase(postgres, 'upgrade', from);
    const plan = { ...makePlan(seed, rounds, 'single', 'remembers'), faults };
    for (const { operations } of plan.customers) {
      for (const one of operations) {
        one.hangsUp = false;
        // The last release has no batches and erases nothing.
        if (/-batch$|^erase-/.test(one.kind)) one.kind = 'provision';
      }
    }
    const outcome = await runOnce({ plan, postgres, database: 'upgrade', keys, from });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    const { sent, notes, receipts } = outcome.history;
    const failed = sent.filter(({ status }) => status === null || status === 408 || status >= 500);
    expect(failed).toEqual([]);
    const timesOf = (what: string) =>
      notes.filter(({ text }) => text.startsWith(what)).map(({ atMs }) => atMs);
    const [began, ended] = [timesOf('fault:'), timesOf('ended:')];
    expect(ended).toHaveLength(steps.length);
    for (const [index, fromMs] of began.entries()) {
      const during = sent.filter(({ sentMs }) => sentMs >= fromMs && sentMs <= (ended[index] ?? 0));
      expect(during.filter(({ method }) => method === 'POST').length).toBeGreaterThan(0);
    }
    expect(receipts.length).toBeGreaterThan(0);
  } finally {
    await postgres.remove();
    await lastRelease.remove();
  }
}, 900_000); // catches a hang
