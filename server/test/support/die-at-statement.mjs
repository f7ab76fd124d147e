// Preloaded to kill a server around a named statement, without a hook in production code.
// DIE_AT is `<statement>:<before|after|commit>:<n>`: dies the n-th time it is sent, returns rows, or is committed.
import pg from 'pg';

const [name, moment, count] = (process.env.DIE_AT ?? '').split(':');
let left = Number(count);

function countDown() {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

let isSent = false;

const { query } = pg.Client.prototype;

pg.Client.prototype.query = function (config, ...rest) {
  if (moment === 'commit' && config === 'commit' && isSent) {
    return query.call(this, config, ...rest).then(countDown);
  }
  isSent ||= config?.name === name;
  if (config?.name !== name) return query.call(this, config, ...rest);
  if (moment === 'before') countDown();
  const result = query.call(this, config, ...rest);
  if (moment !== 'after') return result;
  return result.then((answer) => {
    if (answer.rows.length > 0) countDown();
    return answer;
  });
};
