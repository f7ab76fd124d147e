import { createRequire } from 'node:module';

/** The server's version, from its package.json. */
export const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
