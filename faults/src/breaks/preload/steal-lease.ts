// A sender takes any endpoint's lease, even if another process holds it.
import { rewriteStatements } from './rewrite-statements.ts';

rewriteStatements((text) =>
  text
    .replace('where not is_kept and not is_others', 'where true')
    .replace('where current.holder = excluded.holder or current.leased_until < now()', '')
    .replaceAll(/and l\.holder <> \$(\d) and l\.leased_until >= now\(\)/g, 'and l.holder <> $$$1 and false'),
);
