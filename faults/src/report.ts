import type { Execution } from '@simplane/contract';
import type { History } from './history/history.ts';
import type { Found, Outcome } from './run-once.ts';

const isUnknown = ({ error }: Execution) => error?.code === 'outcome_unknown';

/** Summarizes a run in numbers. */
export function describeCounts({ plan, history }: Outcome): string {
  const { sent, receipts, calls, notes, end, walks, feedReaders } = history;
  const count = (text: string) => notes.filter((note) => note.text.startsWith(text)).length;
  const total = (of: (account: History['end'][number]) => unknown[]) =>
    end.reduce((sum, account) => sum + of(account).length, 0);
  const lost = sent.filter(({ status }) => status === null).length;
  return [
    `${sent.length} requests (${lost} without an answer)`,
    `${total(({ executions }) => executions)} orders and changes`,
    `${total(({ esims }) => esims)} eSIMs`,
    `${total(({ executions }) => executions.filter(isUnknown))} orders with unknown outcome`,
    `${calls.length} network calls`,
    `${total(({ events }) => events)} events`,
    `${receipts.length} deliveries received (${receipts.filter((one) => !one.isAcknowledged).length} refused)`,
    `${walks.length} walks`,
    `${feedReaders.reduce((sum, { seen }) => sum + seen.length, 0)} events read from the feed`,
    `${count('fault:')} of ${plan.faults.length} faults`,
    ...[
      'kill',
      'freeze',
      'overtake',
      'race-heir',
      'hold-link',
      'clock-jump',
      'cut-link',
      'end-sessions',
      'restart-postgres',
      'crash-postgres',
      'fail-over',
      'switch-over',
      'lose-standby',
      'upgrade',
      'downgrade',
    ]
      .map((kind) => [kind, count(`fault: ${kind}`)] as const)
      .filter(([, times]) => times > 0)
      .map(([kind, times]) => `${times} ${kind}`),
  ].join(', ');
}

const maxShown = 5;
const maxLines = 40;

/** Lists violations by check, each with the related history. */
export function describeViolations({ history, found }: Outcome): string {
  const lines: string[] = [];
  for (const check of new Set(found.map((one) => one.check))) {
    const its = found.filter((one) => one.check === check);
    lines.push(`${check}: ${its.length} violation${its.length === 1 ? '' : 's'}`);
    for (const violation of its.slice(0, maxShown)) lines.push(...describeOne(history, violation));
    if (its.length > maxShown) lines.push(`  … and ${its.length - maxShown} more`);
  }
  return lines.join('\n');
}

function describeOne(history: History, { what, about }: Found): string[] {
  const related = linesOf(history).filter(({ text }) => about.some((id) => id !== '' && text.includes(id)));
  const [first, last] = [related[0]?.atMs ?? 0, related.at(-1)?.atMs ?? 0];
  const around = history.notes.filter(({ atMs }) => atMs >= first - 2_000 && atMs <= last + 2_000);
  const all = [...related, ...around].sort((a, b) => a.atMs - b.atMs);
  const shown = all.length > maxLines ? [...all.slice(0, maxLines / 2), ...all.slice(-maxLines / 2)] : all;
  return [
    `  - ${what} [${about.slice(0, 5).join(', ')}]`,
    ...shown.map(({ atMs, text }) => `      ${((atMs - history.startedMs) / 1000).toFixed(3)} s  ${text}`),
  ];
}

/** Signing secrets and keys are never printed. */
const secrets = /(whsec|sp_test)_[\w+/=-]+/g;

function linesOf({ sent, receipts, calls, feedReaders }: History): { atMs: number; text: string }[] {
  return [
    // Skip lists: they mention too many ids.
    ...sent
      .filter(({ path }) => !path.includes('?'))
      .map((one) => ({
        atMs: one.sentMs,
        text: `account ${one.account + 1} → ${one.process} ${one.method} ${one.path} ${one.key ?? ''} ${
          one.body ? JSON.stringify(one.body) : ''
        } → ${one.status ?? 'no answer'}${one.isReplayed ? ' (replayed)' : ''} ${one.text.slice(0, 400)}`.replace(
          secrets,
          '$1_…',
        ),
      })),
    ...receipts.map((one) => ({
      atMs: one.atMs,
      text: `delivery to account ${one.account + 1} ${one.hook} (${one.behavior}) ${one.body.slice(0, 300)}`,
    })),
    ...calls.map((one) => ({
      atMs: one.atMs,
      text: `network: ${one.step} ${one.id} for ${one.executionId}, ${one.iccid}, by ${one.worker} → ${one.answer}`,
    })),
    ...feedReaders.flatMap(({ account, kind, seen }) =>
      seen.map(({ id, atMs }) => ({ atMs, text: `feed of account ${account + 1}, ${kind} reader: ${id}` })),
    ),
  ];
}
