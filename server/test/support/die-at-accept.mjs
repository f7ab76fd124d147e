// Preloaded to kill a server around its accept statement, without a hook in production code.
import pg from 'pg';

const moment = process.env.DIE_AT_ACCEPT;
const query = pg.Client.prototype.query;

pg.Client.prototype.query = function (config, ...rest) {
  const isAccept = config?.name?.startsWith('execution_accept');
  if (isAccept && moment === 'before') process.kill(process.pid, 'SIGKILL');
  const result = query.call(this, config, ...rest);
  if (!isAccept || moment !== 'after-commit') return result;
  return result.then(() => process.kill(process.pid, 'SIGKILL'));
};
