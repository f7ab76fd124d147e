import { inject } from 'vitest';
import { type Link, openLink } from '../../../faults/src/deployment/link.ts';

/** A proxy to the tests' PostgreSQL, with the database `postgres`. */
export function linkToPostgres(): Promise<Link> {
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/postgres';
  return openLink(url.href, () => `${url.searchParams.get('host')}/.s.PGSQL.5432`);
}
