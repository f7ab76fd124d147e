import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/**
 * The operator's feed has every event of every account once, and those of an account in the order of its own feed. In a run that begins
 * with the last release, it begins later than theirs.
 */
export function operatorFeedIsWhole({ deploymentFeed, feedReaders, losesCommits }: History): Violation[] {
  if (losesCommits) return [];
  const twice = deploymentFeed.filter((id, index) => deploymentFeed.indexOf(id) !== index);
  return [
    ...(twice.length > 0
      ? [{ about: twice, what: `the operator’s feed has ${twice.length} events again` }]
      : []),
    ...feedReaders
      .filter(({ kind }) => kind === 'late')
      .flatMap(({ account, seen }) => {
        const own = seen.map(({ id }) => id);
        const ofAccount = new Set(own);
        const shown = deploymentFeed.filter((id) => ofAccount.has(id));
        const expected = own.slice(Math.max(0, own.indexOf(shown[0] ?? '')));
        const at = expected.findIndex((id, index) => id !== shown[index]);
        if (at === -1) return [];
        const what = `the operator’s feed and that of account ${account + 1} differ after ${at} events`;
        return [{ about: [expected[at] ?? '', shown[at] ?? ''], what }];
      }),
  ];
}
