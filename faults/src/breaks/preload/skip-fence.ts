// Removes the fence check alone: a worker writes even if another has claimed the row since.
import { rewriteStatements } from './rewrite-statements.ts';

const fenceCheck = /\bfence = (\$\d+|\w+\.fence)\b/g;

// Keep using the parameter, because PostgreSQL must infer its type.
rewriteStatements((text) => text.replace(fenceCheck, 'fence >= $1::integer'));
