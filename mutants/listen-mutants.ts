import type { Mutant } from './mutant.ts';

/** Mutants of `simplane listen`: what an app accepts, what is repeated, and how long is waited. */
export const listenMutants: Mutant[] = [
  {
    name: 'redirect-counts-as-accepted-locally',
    file: 'cli/src/listen/forward.ts',
    find: 'answer.status < 300',
    replace: 'answer.status < 400',
    tests: ['cli/src/listen/forward.test.ts'],
    why: 'An app that redirects has not accepted the event.',
  },
  {
    name: 'listen-repeats-without-a-pause',
    file: 'cli/src/listen/forward.ts',
    find: 'await setTimeout(retryInMs, undefined, { signal }).catch(() => {});',
    replace: '',
    tests: ['cli/src/listen/forward.test.ts'],
    why: 'An app that fails gets the event again after a pause.',
  },
  {
    name: 'endless-answer-of-an-app-read',
    file: 'cli/src/listen/post.ts',
    find: 'if (size >= maxAnswerBytes) break;',
    replace: '',
    tests: ['cli/src/listen/forward.test.ts'],
    why: 'An app’s answer is read up to a limit.',
  },
  {
    name: 'hanging-app-waited-for',
    file: 'cli/src/listen/post.ts',
    find: '    isTimedOut = true;\n    stop();',
    replace: '    isTimedOut = true;',
    tests: ['cli/src/listen/forward.test.ts'],
    why: 'An app that does not answer is given up after 15 s.',
  },
  {
    name: 'any-text-is-a-secret',
    file: 'cli/src/listen/sign.ts',
    find: '[A-Za-z0-9+/]{2}==)$/',
    replace: '[A-Za-z0-9+/]{2}==)/',
    tests: ['cli/src/listen/forward.test.ts'],
    why: 'A malformed signing secret is refused.',
  },
];
