// Preloaded into `accounts move`, to die instead of sending a statement.
import pg from 'pg';

const name = process.env['FAULTS_DIE_BEFORE'];
const { query } = pg.Client.prototype;

pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [config] = args as [{ name?: string } | undefined];
  if (config?.name === name) process.kill(process.pid, 'SIGKILL');
  return (query as (...given: unknown[]) => unknown).apply(this, args);
} as typeof query;
