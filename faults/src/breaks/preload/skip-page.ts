// An API whose lists lose things between one page and the next.
import { rewriteStatements } from './rewrite-statements.ts';

const onward = /from executions\s+where account_id = \$1 and id < \$2/;

rewriteStatements((text) =>
  text.replace(onward, (found) => `${found} and ($2::text like 'ffffffff%' or right(id::text, 1) < '6')`),
);
