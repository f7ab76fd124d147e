import pg from 'pg';

type Query = (config: unknown, ...rest: unknown[]) => unknown;
type Statement = { text: string };

/** Rewrites every SQL statement of this process before it is sent to PostgreSQL. */
export function rewriteStatements(rewrite: (text: string) => string): void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function (config, ...rest) {
    const isStatement = typeof config === 'object' && config !== null && 'text' in config;
    if (!isStatement) return query.call(this, config, ...rest);
    const statement = config as Statement;
    statement.text = rewrite(statement.text);
    return query.call(this, statement, ...rest);
  };
}
