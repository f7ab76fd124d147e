import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrast, textColorOn } from './text-color.ts';

test('text can be read on every color', () => {
  const color = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
  fc.assert(fc.property(color, (on) => contrast(on, textColorOn(on)) >= 4.5));
});

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect([textColorOn('#1d4ed8'), textColorOn('#facc15')]).toEqual(['#ffffff', '#000000']);
});
