import type { BatchInstallProfiles } from '@simplane/contract';
import { expect, test } from 'vitest';
import { renderProfiles } from './render-profiles.ts';

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['an old\rMac', '"an old\rMac"'],
  ['=1+1', "'=1+1"],
  ['@x', "'@x"],
  ['-1', "'-1"],
])('in a CSV file the reference %j is written as %j', async (reference, written) => {
  const batch = { batch_id: 'batch_1', data: [{ iccid: '1', reference, product_id: 'p' }] };
  const file = await renderProfiles(batch as BatchInstallProfiles, 'csv');
  const [, ...line] = file?.bytes.toString().split('\r\n') ?? [];
  expect(line.join('\r\n')).toMatch(`1,${written},p,`);
});
