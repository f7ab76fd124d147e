import { expect, test } from 'vitest';
import { listExecutionsCommand } from './executions.ts';
import type { Tools } from './with-database.ts';

test.each(['0', '101', '999', 'ten'])(
  'a list of %s executions is refused instead of cut to a page',
  async (limit) => {
    const noDatabase = {} as Tools;
    await expect(listExecutionsCommand(noDatabase, { json: false, limit })).rejects.toThrow(
      `--limit takes a number from 1 to 100; got "${limit}"`,
    );
  },
);
