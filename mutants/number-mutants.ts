import { api, type Mutant } from './mutant.ts';

/** Mutants of the operator’s ICCID ranges. */
export const numberMutants: Mutant[] = [
  {
    name: 'smaller-range-wins',
    file: 'server/src/orders/esims/list-iccid-ranges.ts',
    find: 'range.size > (ranges.get(range.first)?.size ?? 0)',
    replace: 'range.size < (ranges.get(range.first)?.size ?? Number.POSITIVE_INFINITY)',
    tests: [api('iccid-ranges')],
    why: 'While a range is being extended, the larger size is shown.',
  },
  {
    name: 'more-free-than-the-range',
    file: 'server/src/orders/esims/list-iccid-ranges.ts',
    find: 'Math.min(counter, size)',
    replace: 'counter',
    tests: [api('iccid-ranges')],
    why: 'A range that was shortened has no negative number of free ICCIDs.',
  },
  {
    name: 'pace-of-minutes',
    file: 'server/src/orders/esims/list-iccid-ranges.ts',
    find: '|| seconds < hourSeconds)',
    replace: '|| seconds < 0)',
    tests: [api('iccid-ranges')],
    why: 'The pace is not told from less than an hour.',
  },
  {
    name: 'suspect-number-first',
    file: 'server/src/orders/esims/sql/iccids.ts',
    find: 'where iccid between $4 and $5 and not is_suspect',
    replace: 'where iccid between $4 and $5',
    tests: [api('iccids')],
    why: 'A suspect number is used only when no other is left.',
  },
  {
    name: 'suspect-number-of-another-range',
    file: 'server/src/orders/esims/sql/iccids.ts',
    find: 'where iccid between $1 and $2 and is_suspect',
    replace: 'where $1::text <= $2::text and is_suspect',
    tests: [api('iccids')],
    why: 'A suspect number is assigned from the operator’s present ranges only.',
  },
  {
    name: 'newest-suspect-number-first',
    file: 'server/src/orders/esims/sql/iccids.ts',
    find: 'and is_suspect\n  order by returned_at\n',
    replace: 'and is_suspect\n  order by returned_at desc\n',
    tests: [api('iccids')],
    why: 'The suspect number that has waited longest is used first.',
  },
  {
    name: 'locked-number-holds-up-orders',
    file: 'server/src/orders/esims/sql/iccids.ts',
    find: '    for update skip locked\n',
    replace: '    for update\n',
    tests: [api('iccids')],
    why: 'An order does not wait for a returned number that another one takes.',
  },
  {
    name: 'locked-suspect-number-holds-up-orders',
    file: 'server/src/orders/esims/sql/iccids.ts',
    find: '\n  for update skip locked\n',
    replace: '\n  for update\n',
    tests: [api('iccids')],
    why: 'An order does not wait for a suspect number that another one takes.',
  },
];
