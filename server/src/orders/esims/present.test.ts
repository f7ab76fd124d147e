import { expect, test } from 'vitest';
import { withError } from './present.ts';
import type { EsimRow } from './sql/esims.ts';

test('the error of a profile is shown only while the profile is in that state', () => {
  const error = { code: 'download_expired', message: 'It was not downloaded in time.' };
  const row = (state: string) => ({ profile_state: state, profile_error: error }) as unknown as EsimRow;
  expect(withError('profile_error', row('error'))).toEqual({ profile_error: error });
  expect(withError('profile_error', row('installed'))).toEqual({});
});
