// Removes the fence check alone: a worker writes even if another has claimed the row since.
import { rewriteStatements } from './rewrite-statements.ts';

const fenceCheck = /\bfence = (\$\d+|\w+\.fence)(?= and \w+\.leased_until is not null)/g;

// Keep using the parameter, because PostgreSQL must infer its type.
rewriteStatements((text) => text.replace(fenceCheck, 'fence >= $1::integer'));
