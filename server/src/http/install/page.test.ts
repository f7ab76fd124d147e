import { InstallProfile } from '@simplane/contract';
import { expect, test } from 'vitest';
import { renderPage, type Shown } from './page.ts';
import { texts } from './texts/index.ts';

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
