// Makes every second eSIM list query fail.
import { rewriteStatements } from './rewrite-statements.ts';

let count = 0;

rewriteStatements((text) => {
  if (!/from esims\s+where account_id = \$1 and id < /.test(text)) return text;
  count += 1;
  return count % 2 === 1 ? text.replace('from esims', 'from esims_that_are_not_there') : text;
});
