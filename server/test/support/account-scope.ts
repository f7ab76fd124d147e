import { readdirSync, readFileSync } from 'node:fs';
import { loadModule, parseSync } from 'libpg-query';

type Node = { [key: string]: unknown };
/** A relation that a query reads or changes. `table` is null unless it has an `account_id` or is `accounts` itself. */
type Relation = { alias: string; table: string | null };
type Level = { relations: Relation[]; outer: Level | null };
/** `of` is bound to an account if `by` is. `given` is a parameter, or a column of a CTE or subquery that is checked separately. */
type Proof = { of: Relation; by: Relation | 'given' };

await loadModule();
const migrations = new URL('../../migrations/', import.meta.url);
export const accountTables = readAccountTables();

/**
 * The tables that a statement reads or changes without naming the account. A table is bound to an account if its `account_id`
 * equals a given value or that of a bound table, or if its rows are found by `ctid`.
 */
export function unscopedTables(text: string): string[] {
  const relations: Relation[] = [];
  const proofs: Proof[] = [];
  const faults: string[] = [];
  /** A condition outside a subquery binds it if the subquery selects its `account_id`. */
  const subqueries = new Map<Node, Relation>();
  for (const { stmt } of parseSync(text).stmts ?? []) visit(stmt as Node, null);
  const bound = new Set<Relation>();
  for (let before = -1; before !== bound.size; ) {
    before = bound.size;
    for (const { of, by } of proofs) if (by === 'given' || bound.has(by)) bound.add(of);
  }
  const unbound = relations.filter((one) => accountTables.has(one.table ?? '') && !bound.has(one));
  return [...new Set([...faults, ...unbound.map(({ table }) => table as string)])].sort();

  function visit(node: unknown, outer: Level | null): void {
    if (Array.isArray(node)) for (const one of node) visit(one, outer);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    for (const [kind, value] of Object.entries(node)) {
      if (kind in fromClauses) query(kind, value as Node, outer);
      else visit(value, outer);
    }
  }

  function query(kind: string, whole: Node, outer: Level | null): void {
    const { larg, rarg, ...node } = whole;
    const shownAs = subqueries.get(whole);
    for (const branch of [larg, rarg] as (Node | undefined)[]) {
      if (!branch) continue;
      if (shownAs) subqueries.set(branch, shownAs);
      query(kind, branch, outer);
    }
    const level: Level = { relations: [], outer };
    const from = [node[fromClauses[kind] as string]].flat();
    if (kind === 'InsertStmt') checkInsert(node);
    else from.push(node['relation'] && { RangeVar: node['relation'] });
    for (const item of from) addRelations(item as Node | undefined, level);
    prove(node['whereClause'], level);
    if (shownAs) for (const of of shownIn(node['targetList'], level)) proofs.push({ of, by: shownAs });
    visit(Object.values(node), level);
  }

  function checkInsert({ relation, cols }: Node): void {
    const { relname } = relation as { relname: string };
    const names = ((cols ?? []) as Node[]).map((col) => (col['ResTarget'] as Node)['name']);
    if (accountTables.has(relname) && !names.includes('account_id')) faults.push(relname);
  }

  function addRelations(item: Node | undefined, level: Level): void {
    if (!item) return;
    const [[kind, value]] = Object.entries(item) as [[string, Node]];
    if (kind === 'JoinExpr') {
      const before = level.relations.length;
      addRelations(value['larg'] as Node, level);
      addRelations(value['rarg'] as Node, level);
      const joined = level.relations.slice(before);
      if (namesOf(value['usingClause']).includes('account_id')) proveJoined(joined);
      prove(value['quals'], level);
      return;
    }
    const name = value['relname'] as string | undefined;
    const alias = (value['alias'] as Node | undefined)?.['aliasname'] ?? name ?? '';
    const isTracked = name === 'accounts' || accountTables.has(name ?? '');
    const relation = { alias: alias as string, table: isTracked ? (name as string) : null };
    level.relations.push(relation);
    relations.push(relation);
    if (kind === 'RangeSubselect') subqueries.set(only(value['subquery'])[1], relation);
  }

  /** `using (account_id)`: if one side is bound, so is the other. */
  function proveJoined(joined: Relation[]): void {
    for (const of of joined) for (const by of joined) if (of !== by) proofs.push({ of, by: sourceOf(by) });
  }

  /** Ignores conditions below `or` and `not`, because they need not hold for every row. */
  function prove(condition: unknown, level: Level): void {
    const [kind, node] = only(condition);
    if (kind === 'BoolExpr' && node['boolop'] === 'AND_EXPR') {
      for (const one of node['args'] as unknown[]) prove(one, level);
    } else if (kind === 'A_Expr' && isEquality(node)) {
      pair(listed(node['lexpr']), listed(node['rexpr']), level);
      pair(listed(node['rexpr']), listed(node['lexpr']), level);
    } else if (kind === 'SubLink' && node['subLinkType'] === 'ANY_SUBLINK') {
      pair(listed(node['testexpr']), [], level);
    }
  }

  function pair(left: unknown[], right: unknown[], level: Level): void {
    left.forEach((expression, index) => {
      const of = identityOf(expression, level);
      if (!of || !level.relations.includes(of)) return;
      const by = identityOf(right[index], level);
      if (by ? by !== of : isGiven(right[index], level)) proofs.push({ of, by: by ? sourceOf(by) : 'given' });
    });
  }
}

/** The field with the relations that each kind of query reads. */
const fromClauses: Record<string, string> = {
  SelectStmt: 'fromClause',
  UpdateStmt: 'fromClause',
  DeleteStmt: 'usingClause',
  InsertStmt: 'none',
};

/** A CTE or subquery is checked separately, so its rows count as given; so do a function's. */
function sourceOf(relation: Relation): Relation | 'given' {
  return relation.table === null ? 'given' : relation;
}

/** The relation that this column binds to an account: by `account_id`, by `ctid`, or by the `id` of `accounts`. */
function identityOf(expression: unknown, level: Level): Relation | null {
  const { column, relation } = columnOf(expression, level);
  if (!relation) return null;
  const isIdentity =
    relation.table === 'accounts' ? column === 'id' : ['account_id', 'ctid'].includes(column);
  return isIdentity ? relation : null;
}

/** Anything except a column of a tracked table, which could have any value. */
function isGiven(expression: unknown, level: Level): boolean {
  const { column, relation } = columnOf(expression, level);
  return column === '' || relation?.table === null;
}

function columnOf(expression: unknown, level: Level): { column: string; relation: Relation | null } {
  const [kind, node] = only(expression);
  const names = kind === 'ColumnRef' ? namesOf(node['fields']) : [];
  const column = names.at(-1) ?? '';
  for (let at: Level | null = level; at && column !== ''; at = at.outer) {
    const relation =
      names.length > 1
        ? at.relations.find(({ alias }) => alias === names[0])
        : (at.relations.find(({ table }) => table !== null) ?? at.relations[0]);
    if (relation) return { column, relation };
  }
  return { column, relation: null };
}

/** The relations whose `account_id` a subquery selects. */
function shownIn(targetList: unknown, level: Level): Relation[] {
  return ((targetList ?? []) as Node[]).flatMap((target) => {
    const { name = 'account_id', val } = target['ResTarget'] as { name?: string; val: Node };
    const fields = only(val)[0] === 'ColumnRef' ? (only(val)[1]['fields'] as Node[]) : [];
    if (fields.length === 1 && 'A_Star' in (fields[0] as Node)) return level.relations;
    const found = name === 'account_id' ? identityOf(val, level) : null;
    return found && level.relations.includes(found) ? [found] : [];
  });
}

function isEquality(node: Node): boolean {
  return (
    ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(node['kind'] as string) &&
    namesOf(node['name'])[0] === '='
  );
}

/** The parts of a row, or the one expression. */
function listed(expression: unknown): unknown[] {
  const [kind, node] = only(expression);
  return kind === 'RowExpr' ? (node['args'] as unknown[]) : [expression];
}

function only(node: unknown): [string, Node] {
  return (Object.entries(node ?? {})[0] as [string, Node] | undefined) ?? ['', {}];
}

function namesOf(strings: unknown): string[] {
  return ((strings ?? []) as Node[]).map((one) =>
    String((one['String'] as Node | undefined)?.['sval'] ?? ''),
  );
}

/** Every table with a column `account_id` in the migrations. */
function readAccountTables(): ReadonlySet<string> {
  const tables = readdirSync(migrations)
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) => parseSync(readFileSync(new URL(name, migrations), 'utf8')).stmts ?? [])
    .map(({ stmt }) => only(stmt))
    .filter(([kind, node]) => kind === 'CreateStmt' && hasAccount(node))
    .map(([, node]) => (node['relation'] as { relname: string }).relname);
  // Says where accounts are; it holds nothing of theirs.
  return new Set(tables.filter((table) => table !== 'account_moves'));
}

function hasAccount({ tableElts }: Node): boolean {
  return ((tableElts ?? []) as Node[]).some(
    (element) => (element['ColumnDef'] as Node | undefined)?.['colname'] === 'account_id',
  );
}
