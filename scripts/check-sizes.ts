/** Checks that the server's code can be read: a function fits on a screen, and a factory with its functions on two or three. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';

const limits = { file: 300, function: 60, factory: 150 };
const folder = 'server/src';
const functionTypes = [
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'MethodProperty',
];

type Node = { type?: string; span?: { start: number; end: number } } & Record<string, unknown>;
/** A function with a name, and those in it. */
type Found = { name: string; first: number; last: number; inner: Found[] };

// A test passes another tree that contains violations.
const planted = process.argv[2];
process.chdir(planted ?? fileURLToPath(new URL('../../', import.meta.url)));

const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
let functionCount = 0;
const complaints: string[] = [];
for (const name of names.sort()) complaints.push(...(await examineFile(name)));
if (functionCount < names.length)
  complaints.push(`only ${functionCount} functions in ${names.length} files were read`);

for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`sizes hold: ${names.length} files, ${functionCount} functions`);

async function examineFile(name: string): Promise<string[]> {
  const source = await readFile(join(folder, name), 'utf8');
  const lineCount = source.trimEnd().split('\n').length;
  const functions: Found[] = [];
  collect(
    parseSync(source, { syntax: 'typescript' }) as unknown as Node,
    null,
    functions,
    lineCounter(source),
  );
  const found = functions.flatMap(examineFunction);
  // The statements of a table stand together, and each is read by itself.
  const isList = /(^|\/)sql(\.ts$|\/)/.test(name);
  if (lineCount > limits.file && !isList)
    found.unshift(`the file has ${lineCount} lines; ${limits.file} are the most, so look for a second duty`);
  return found.map((says) => `${folder}/${name}: ${says}`);
}

/** A function's own lines are those outside of the functions with a name in it, which are read by themselves. */
function examineFunction({ name, first, last, inner }: Found): string[] {
  functionCount += 1;
  const total = last - first + 1;
  const own = inner.reduce((rest, one) => rest - (one.last - one.first + 1), total);
  const found = inner.flatMap(examineFunction);
  if (own > limits.function)
    found.push(`${name} has ${own} lines of its own; ${limits.function} are the most`);
  if (total > limits.factory)
    found.push(`${name} has ${total} lines with its functions; ${limits.factory} are the most`);
  return found;
}

/** Collects functions with a name. One without, such as a callback, belongs to the lines of the function it stands in. */
function collect(node: Node, given: string | null, into: Found[], lineAt: (offset: number) => number): void {
  let inner = into;
  const name = given ?? textOf(node['identifier'] ?? (node.type === 'MethodProperty' ? node['key'] : null));
  if (functionTypes.includes(node.type ?? '') && node.span && name !== null) {
    inner = [];
    into.push({ name, first: lineAt(node.span.start), last: lineAt(node.span.end), inner });
  }
  for (const [key, value] of Object.entries(node)) {
    const isNamed = key === 'init' || key === 'value'; // of a variable, or of a property
    for (const child of [value].flat()) {
      if (child === null || typeof child !== 'object') continue;
      collect(child as Node, isNamed ? textOf(node['id'] ?? node['key']) : null, inner, lineAt);
    }
  }
}

function textOf(node: unknown): string | null {
  const { value } = (node ?? {}) as { value?: unknown };
  return typeof value === 'string' ? value : null;
}

/** The parser counts bytes, from 1. */
function lineCounter(source: string): (offset: number) => number {
  const ends: number[] = [];
  for (const line of source.split('\n')) ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(line) + 1);
  return (offset) => ends.findIndex((end) => end >= offset) + 1;
}
