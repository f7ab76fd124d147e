/** A change that breaks a guarantee: `find` must occur exactly once in `file`, and one of `tests` must fail after it. */
export type Mutant = {
  name: string;
  file: string;
  find: string;
  replace: string;
  tests: readonly string[];
  /** The guarantee that it breaks. */
  why: string;
};

export const api = (name: string) => `server/test/api/${name}.test.ts`;
export const live = (name: string) => `server/test/live/${name}.test.ts`;
export const webhooks = (name: string) => `server/test/webhooks/${name}.test.ts`;
export const inProcess = (name: string) => `server/test/process/${name}.test.ts`;
export const embedded = (name: string) => `server/test/embedded/${name}.test.ts`;
