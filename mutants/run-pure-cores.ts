import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { explained } from './explained.ts';

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];
export type Score = { killed: number; explained: number; unexplained: string[]; stale: string[] };

let sandbox: string | null = null;

/** Runs Stryker over these pure cores. */
export async function runPureCores(files: readonly string[]): Promise<Score> {
  sandbox = await mkdtemp(join(tmpdir(), 'simplane-mutants-'));
  try {
    const results = await new Stryker({
      mutate: [...files],
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'mutants/vitest.config.ts' },
      // Messages are for people: a test that checks every word would only repeat the code.
      mutator: { excludedMutations: ['StringLiteral'] },
      coverageAnalysis: 'perTest',
      concurrency: 2,
      tempDirName: sandbox,
      cleanTempDir: 'always',
      ignorePatterns: ['docs', '**/dist', 'bench/results'],
      // Stryker would rewrite the paths in it with TypeScript's JavaScript API, which TypeScript 7 does not have.
      tsconfigFile: 'mutants/no-tsconfig.json',
      reporters: ['progress'],
      allowConsoleColors: false,
    } as ConstructorParameters<typeof Stryker>[0]).runMutationTest();
    return await judge(results, files);
  } finally {
    await removeSandbox();
  }
}

export async function removeSandbox(): Promise<void> {
  if (sandbox !== null) await rm(sandbox, { recursive: true, force: true, maxRetries: 5 });
}

async function judge(results: readonly Result[], files: readonly string[]): Promise<Score> {
  const survivors = await Promise.all(
    results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage').map(describe),
  );
  const known = explained.filter(({ file }) => files.includes(file));
  const isExplained = (one: Survivor) => known.some((entry) => matches(entry, one));
  const killed = results.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  return {
    killed,
    explained: survivors.filter(isExplained).length,
    unexplained: survivors.filter((one) => !isExplained(one)).map(({ text }) => text),
    stale: known
      .filter((entry) => !survivors.some((one) => matches(entry, one)))
      .map(({ file, original, replacement }) => `${file}: ${original} → ${replacement}`),
  };
}

type Survivor = { file: string; original: string; replacement: string; text: string };

function matches(entry: { file: string; original: string; replacement: string }, one: Survivor): boolean {
  return entry.file === one.file && entry.original === one.original && entry.replacement === one.replacement;
}

/** The source text that was replaced: it stays the same when lines move. */
async function describe({ fileName, location: { start, end }, ...mutant }: Result): Promise<Survivor> {
  const file = relative(process.cwd(), fileName);
  const lines = (await readFile(file, 'utf8')).split('\n');
  const part = lines.slice(start.line - 1, end.line);
  part[part.length - 1] = (part.at(-1) ?? '').slice(0, end.column - 1);
  part[0] = (part[0] ?? '').slice(start.column - 1);
  const original = oneLine(part.join('\n'));
  const replacement = oneLine(mutant.replacement);
  return { file, original, replacement, text: `${file}:${start.line}  ${original}  →  ${replacement}` };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
