import { setImmediate } from 'node:timers/promises';
import { Resvg } from '@resvg/resvg-js';
import type { BatchInstallProfiles } from '@simplane/contract';
import { expect, test } from 'vitest';
import { decode, fromPng } from '../../../test/support/scan-qr.ts';
import { drawCard } from './draw-card.ts';
import { renderProfiles } from './render-profiles.ts';

const profile = {
  iccid: '1',
  reference: null,
  product_id: 'p',
  lpa: 'LPA:1$a$B',
  smdp_address: 'a',
  matching_id: 'B',
} as BatchInstallProfiles['data'][number];

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

test('a camera reads the code on a card as exactly the activation code', () => {
  const lpa = 'LPA:1$smdp.example$Matching-ID';
  const svg = drawCard({ ...profile, lpa }).toString();
  const picture = new Resvg(svg, { fitTo: { mode: 'width', value: 1_712 } }).render().asPng();
  expect(decode(fromPng(picture)).data).toBe(lpa);
});

test('a text of more than 22 characters is drawn as wide as there is room on a card', () => {
  const [short, long] = ['A'.repeat(22), 'B'.repeat(23)];
  const card = drawCard({ ...profile, smdp_address: short, matching_id: long }).toString();
  expect(card).toContain(`font-size="2.8">${short}<`);
  expect(card).toContain(`font-size="2.8" textLength="37" lengthAdjust="spacingAndGlyphs">${long}<`);
});
