// Removes the fence check: a worker writes even if another has claimed the row.
import { rewriteStatements } from './rewrite-statements.ts';

const fenceCheck =
  /(?:\w+\.)?fence = (\$\d+|given\.fence) and (?:\w+\.)?status(?: \|\| '')? = '(?:running|pending)'/g;

// Keep using the parameter, because PostgreSQL must infer its type.
rewriteStatements((text) => text.replace(fenceCheck, '$1::integer is not null'));
