import { createRequire } from 'node:module';

/** This package's own. */
export const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
