import { type AuditEntry, isWrite, type Operation, operations } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { bodyOf, type Write, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** Every write that was acknowledged has one entry in the audit log, however often it was sent. */
export function writesAreAudited(history: History): Violation[] {
  if (history.losesCommits) return [];
  const audited = history.end.map(({ auditEntries }) =>
    countBy([...auditEntries, ...history.deploymentEntries].flatMap(namesOf)),
  );
  const expected = new Map<string, { account: number; writes: Write[] }>();
  for (const write of writesOf(history)) {
    if (write.status === null || write.status >= 300) continue;
    const name = nameOf(write);
    if (name === null) continue;
    const { writes } = expected.get(`${write.account} ${name}`) ?? { writes: [] };
    expected.set(`${write.account} ${name}`, { account: write.account, writes: [...writes, write] });
  }
  return [...expected].flatMap(([numbered, { account, writes }]) => {
    const name = numbered.slice(numbered.indexOf(' ') + 1);
    const count = audited[account]?.get(name) ?? 0;
    const mayChangeNothing = /\.(updated|enabled)$|^(batch\.canceled|esim\.erasure_requested)$/.test(
      name.split(' ')[0] ?? '',
    );
    const isRight = mayChangeNothing ? count <= writes.length : count === writes.length;
    const about = writes.map(({ key }) => key);
    return isRight
      ? []
      : [{ about, what: `the audit log has ${count} entries "${name}" for ${writes.length} writes` }];
  });
}

/** Names only the request, so its entries are as many as the reports. */
const reported = 'usage.reported';

/** An entry of several orders counts for each. */
function namesOf({ action, target, changes }: AuditEntry): string[] {
  if (action === reported) return [reported];
  const orders = changes?.['orders'] as { execution_id: string }[] | undefined;
  const ids = orders?.map((order) => order.execution_id) ?? [target.id];
  return ids.map((id) => `${action} ${id}`);
}

const definitions = Object.values<Operation>(operations)
  .filter(isWrite)
  .map(({ method, path, audit }) => ({
    method,
    action: audit.action,
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
  }));

/** The entry that this write must have; null if no operation matches it. */
function nameOf(write: Write): string | null {
  const found = definitions.find(({ method, path }) => method === write.method && path.test(write.path));
  if (!found) return null;
  if (found.action === reported) return reported;
  const target = found.path.exec(write.path)?.at(-1) as string;
  const isNamed = found.path.source.includes('(');
  return `${found.action} ${isNamed ? target : bodyOf<{ id: string }>(write).id}`;
}

function countBy(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
