import { createRequire } from 'node:module';

/** The server's own, from its package. */
export const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
