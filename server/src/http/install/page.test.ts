import { InstallProfile } from '@simplane/contract';
import { expect, test } from 'vitest';
import { renderPage, type Shown } from './page.ts';
import { chooseLanguage, texts } from './texts/index.ts';

const [profile] = (InstallProfile as unknown as { examples: [InstallProfile] }).examples;
const brand: Shown['brand'] = {
  ...{ name: 'Voyage', color: '#000000', textColor: '#ffffff', hasLogo: false },
  ...{ supportUrl: null, topUpUrl: null, apn: null, message: null },
};

function page(changes: Partial<Shown> = {}): string {
  const shown: Shown = {
    ...{ path: '/i/token', iccid: profile.iccid, language: 'en', brand, device: 'android', step: 'ready' },
    ...{ trouble: null, asksConfirmation: false, returnUrl: null, profile: null, data: null },
    ...changes,
  };
  return renderPage(shown, 'nonce');
}

const form = '<form method="post"';
const { help, topUp } = texts.en;

test('offers the code before it was downloaded and after a failure, and shows it instead after the tap', () => {
  for (const step of ['ready', 'failed'] as const) {
    expect(page({ step })).toContain(form);
    const tapped = page({ step, profile });
    expect(tapped).not.toContain(form);
    expect(tapped).toContain(profile.matching_id);
  }
  for (const step of ['downloaded', 'installed', 'online', 'deleted', 'paused'] as const)
    expect(page({ step })).not.toContain(form);
});

test('the tap asks for the code of the device that was chosen', () => {
  expect(page({ device: 'android' })).toContain('action="/i/token?device=android"');
});

test('asks for a confirmation code only if the phone does', () => {
  const [question] = help.confirmation;
  expect(page()).not.toContain(question);
  expect(page({ asksConfirmation: true })).toContain(question);
});

test('once the eSIM is online, answers only what can still go wrong, and sells more data', () => {
  const topUpUrl = 'https://shop.example/more';
  const shown = { brand: { ...brand, topUpUrl } };
  expect(page(shown)).toContain(help.wifi[0]);
  expect(page(shown)).not.toContain(topUp);
  const online = page({ ...shown, step: 'online' });
  expect(online).not.toContain(help.wifi[0]);
  expect(online).toContain(help.deleted[0]);
  expect(online).toContain(`href="${topUpUrl}"`);
});

test('a seller may be called anything', () => {
  const name = '<b>A$&$1</b>';
  const text = page({ step: 'online', brand: { ...brand, name }, returnUrl: 'https://shop.example/' });
  expect(text).toContain('Back to &lt;b&gt;A$&amp;$1&lt;/b&gt;</a>');
  expect(text).not.toContain('<b>');
});

test.each([
  [999_999_999, '1,000 MB'],
  [1_000_000_000, '1 GB'],
  [null, texts.en.unlimited],
])(
  'an eSIM that is online tells its data as plans are sold, and their last day in UTC: %s',
  (leftBytes, said) => {
    const until = new Date('2026-11-30T23:59:59Z');
    const text = page({ step: 'online', data: { leftBytes, until } });
    expect(text).toContain(`<bdi>${said}</bdi>`);
    expect(text).toContain('November 30, 2026');
  },
);

test('shows the code as the device can use it: a button on phones, a picture on computers, else text', () => {
  const shown = (device: Shown['device']) => {
    const text = page({ device, profile });
    return ['class="button"', 'class="qr"', '<details open'].map((part) => text.includes(part));
  };
  expect(shown('iphone')).toEqual([true, false, false]);
  expect(shown('android')).toEqual([true, false, false]);
  expect(shown('computer')).toEqual([false, true, false]);
  expect(shown('other')).toEqual([false, false, true]);
});

test('the code says where a confirmation code comes from, if the phone asks for one', () => {
  const [, answer] = help.confirmation;
  const count = (changes: Partial<Shown>) => page({ profile, ...changes }).split(answer).length - 1;
  expect([count({}), count({ asksConfirmation: true })]).toEqual([0, 2]); // the second is among the questions
});

test('a failure tells its own reason first, and its answer is open', () => {
  const text = page({ step: 'failed', trouble: 'memory' });
  expect(text).toContain(`<p class="bad">${help.memory[1]}</p>`);
  expect(text.match(/<details open>.*?<.summary>/gs)).toEqual([
    `<details open><summary>${help.memory[0]}</summary>`,
  ]);
});

test('the steps up to the current one are done, and it is the current one', () => {
  const steps = [
    ...page({ step: 'installed' }).matchAll(
      /<li data-step="(\w+)".*?"( class="done")?( aria-current="step")?>/g,
    ),
  ];
  expect(steps.map(([, step, done, current]) => [step, Boolean(done), Boolean(current)])).toEqual([
    ['ready', true, false],
    ['downloaded', true, false],
    ['installed', true, true],
    ['online', false, false],
  ]);
});

test('what only the seller can answer leads to its support if it has one, and the rest to another try', () => {
  const linkAfter = (text: string, [question]: readonly [string, string]) =>
    /^.*?<.details>/s.exec(text.slice(text.indexOf(question)))?.[0].match(/href="([^"]*)"/)?.[1];
  const supportUrl = 'https://shop.example/help';
  const helped = page({ brand: { ...brand, supportUrl } });
  expect([linkAfter(helped, help.used), linkAfter(helped, help.wifi)]).toEqual([supportUrl, '/i/token']);
  expect([linkAfter(page(), help.used), linkAfter(page(), help.wifi)]).toEqual([undefined, '/i/token']);
});

test('whoever is installed without internet reads the APN of the seller', () => {
  const text = page({ brand: { ...brand, apn: 'internet.voyage' } });
  expect(text).toContain(`${help.apn[1]} APN: <bdi>internet.voyage</bdi></p>`);
  expect(page()).not.toContain('APN: ');
});

test('what is not known is left out: no end that was never set, no empty link or paragraph', () => {
  const { dataLeft, validUntil, apn } = texts.en;
  const bare = page({ step: 'online' });
  for (const said of [dataLeft, validUntil, apn]) expect(bare).not.toContain(`<dt>${said}</dt>`);
  const endless = page({ step: 'online', data: { leftBytes: 500_000_000, until: null } });
  expect(endless).toContain('<bdi>500 MB</bdi>');
  expect(endless).not.toContain(`<dt>${validUntil}</dt>`);
  for (const text of [bare, endless, page(), page({ profile })])
    expect(text.replace(/<script.*/s, '')).not.toMatch(/href=""|<p><\/p>|null|undefined/);
});

test('whoever opened the link elsewhere chooses the device to install on, among the other ones', () => {
  const offered = (device: Shown['device']) =>
    [...page({ device }).matchAll(/<a href="\/i\/token\?device=(\w+)"/g)].map(([, one]) => one);
  expect(offered('android')).toEqual(['iphone', 'computer']);
  expect(offered('other')).toEqual(['iphone', 'android', 'computer']);
});

test.each([
  ['de-AT,en;q=0.5', 'de'],
  ['en;q=0.5, FR;q=0.9', 'fr'],
  ['de;q=0, it;q=0.1', 'it'],
  ['nl, sv;q=0.9', 'en'],
  ['de;q=0', 'en'],
  ['', 'en'],
  ['fr;q=0.5, de;q=0.5', 'fr'],
  [`${'nl,'.repeat(19)}de`, 'de'],
  [`${'nl,'.repeat(20)}de`, 'en'],
  [undefined, 'en'],
])('the page for a browser that speaks %j is in %s', (accepted, language) => {
  expect(chooseLanguage(accepted)).toBe(language);
});
