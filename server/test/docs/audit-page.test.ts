import { readFileSync } from 'node:fs';
import { auditActions } from '@simplane/contract';
import { expect, test } from 'vitest';

test('docs/audit.md names every action of the audit log', () => {
  const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  let prefix = '';
  // `api_key.created`, `.updated`: a name without a prefix has that of the one before it.
  const named = [...page.matchAll(/`([a-z_]*)\.([a-z_]+)`/g)].map(([, own, name]) => {
    prefix = own || prefix;
    return `${prefix}.${name}`;
  });
  expect(auditActions.filter((action) => !named.includes(action))).toEqual([]);
});
