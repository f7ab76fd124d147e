import type { ProfileFailure } from '../../src/network/port.ts';

/** A failed download, as a network reports it. */
export const downloadFailure: ProfileFailure = {
  step: 'download',
  error: { code: 'other', message: 'The device could not download the profile.', upstream: {} },
};
