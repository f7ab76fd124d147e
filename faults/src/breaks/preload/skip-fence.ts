// A worker that writes what it likes, whoever has the row now.
import { rewriteStatements } from './rewrite-statements.ts';

const held =
  /(?:\w+\.)?fence = (\$\d+|given\.fence) and (?:\w+\.)?status(?: \|\| '')? = '(?:running|pending)'/g;

// The parameter stays in use, since PostgreSQL wants to know its type.
rewriteStatements((text) => text.replace(held, '$1::integer is not null'));
