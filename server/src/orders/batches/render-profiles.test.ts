import { setImmediate } from 'node:timers/promises';
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

test.each(['zip', 'zip_svg', 'cards'] as const)(
  'while a %s archive is drawn, the process does other work',
  async (format) => {
    const profile = {
      iccid: '1',
      reference: null,
      product_id: 'p',
      lpa: 'LPA:1$a$B',
      smdp_address: 'a',
      matching_id: 'B',
    };
    const batch = { batch_id: 'batch_1', data: Array.from({ length: 40 }, () => profile) };
    let isDrawn = false;
    const drawn = renderProfiles(batch as BatchInstallProfiles, format).then(() => {
      isDrawn = true;
    });
    let turns = 0;
    while (!isDrawn) {
      await setImmediate();
      turns += 1;
    }
    await drawn;
    expect(turns).toBeGreaterThanOrEqual(10);
  },
);
