import { expect, test } from 'vitest';
import { redact } from './redact.ts';

const encode = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');

test.each([
  ['{"path":"/v1/sp_test_abc"}', '{"path":"/v1/[redacted]"}'],
  ['{"path":"/v1/sp%5Ftest%5Fabc/x"}', '{"path":"/v1/[redacted]/x"}'],
  [`{"path":"/v1/${encode('sp_live_abc')}"}`, '{"path":"/v1/[redacted]"}'],
  [`{"path":"/v1/${encodeURIComponent(encode('whsec_abc'))}"}`, '{"path":"/v1/[redacted]"}'],
  ['{"a":"LPA%3A1%24smdp.example.com%24ID"}', '{"a":"[redacted]"}'],
  ['{"a":"1%2524smdp.example.com%2524ID"}', '{"a":"[redacted]"}'],
  ['{"a":"%zzsp%5ftest_abc%"}', '{"a":"[redacted]"}'],
  [`{"a":${JSON.stringify('sp_test_a"b\\c=d')}}`, '{"a":"[redacted]"}'],
  ['{"a":"LPA:1$$ABC-DEF"}', '{"a":"[redacted]"}'],
  ['{"a":"100 % of 50%25 and %C3%A9"}', '{"a":"100 % of 50%25 and %C3%A9"}'],
  ['{"a":"%E2%82%AC 1%24"}', '{"a":"%E2%82%AC 1%24"}'],
])('%s becomes %s', (line, expected) => {
  expect(redact(line)).toBe(expected);
});

test('text that was percent-encoded many times is redacted entirely', () => {
  let text = 'sp_test_abc';
  for (let i = 0; i < 12; i++) text = encodeURIComponent(text.replaceAll('_', '%5f'));
  expect(redact(`{"a":"${text}"}`)).toBe('{"a":"[redacted]"}');
});

test('a long line of percent signs takes linear time', () => {
  const startedAtMs = performance.now();
  redact(`{"a":"${'%'.repeat(1_000_000)}"}`);
  redact(`{"a":"${'%25'.repeat(300_000)}"}`);
  redact(`{"a":"${'x'.repeat(1_000_000)}%"}`);
  redact(`{"a":"${'x'.repeat(1_000_000)}","b":"%"}`);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
});
