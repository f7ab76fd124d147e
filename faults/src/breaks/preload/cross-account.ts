// Finds executions by id alone, ignoring the account.
import { rewriteStatements } from './rewrite-statements.ts';

const filter = /from (executions|execution_queue)\s+where account_id = \$1 and id = \$2/g;

rewriteStatements((text) => text.replace(filter, 'from $1 where $$1::uuid is not null and id = $$2'));
