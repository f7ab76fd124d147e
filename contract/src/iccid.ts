import { Type } from 'typebox';

/** 18 to 20 digits, `89` first (ITU-T E.118). Always a string: it does not fit a JSON number. */
export const iccid = Type.String({
  pattern: '^89[0-9]{16,18}$',
  description: 'Identifies the eSIM.',
  examples: ['8999901000000000018'],
});

export const iccidParams = Type.Object({
  iccid: Type.String({ description: 'The eSIM’s ICCID.', examples: ['8999901000000000018'] }),
});
