import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';

/** One process that runs samples in turn: starting Node or Python takes longer than what a sample does. */
export type SampleRunner = {
  /** What the sample printed. Rejects if it throws. */
  run(code: string, env: Record<string, string>): Promise<string>;
  stop(): void;
};

// Both read a line `{code, env}` and write a line `{printed}` or `{error}`.
const node = `
import { createInterface } from 'node:readline';
import { writeFile } from 'node:fs/promises';
import { format } from 'node:util';
import { pathToFileURL } from 'node:url';

let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { code, env } = JSON.parse(line);
  Object.assign(process.env, env);
  let printed = '';
  console.log = (...values) => (printed += format(...values) + '\\n');
  const file = process.cwd() + '/sample-' + ++count + '.mjs';
  await writeFile(file, code);
  const answer = await import(pathToFileURL(file)).then(() => ({ printed }), (error) => ({ error: String(error.stack) }));
  process.stdout.write(JSON.stringify(answer) + '\\n');
}
`;

const python = `
import contextlib, io, json, os, sys, traceback

for line in sys.stdin:
    sample = json.loads(line)
    os.environ.update(sample["env"])
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(sample["code"], {"__name__": "__main__"})
        answer = {"printed": printed.getvalue()}
    except BaseException:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
`;

/** In a folder from which the samples find the SDK. */
export const nodeRunner = (cwd: string): SampleRunner =>
  runnerOf(spawn(process.execPath, ['--input-type=module', '--eval', node], { cwd }));

export const pythonRunner = (cwd: string): SampleRunner =>
  runnerOf(spawn('python3', ['-c', python], { cwd, env: { ...process.env, PYTHONUTF8: '1' } }));

function runnerOf(child: ChildProcess): SampleRunner {
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  return {
    async run(code, env) {
      const answer = nextLine(lines, () => errors);
      child.stdin?.write(`${JSON.stringify({ code, env })}\n`);
      const { printed, error } = JSON.parse(await answer) as { printed?: string; error?: string };
      if (printed === undefined) throw new Error(`${error}\n${code}`);
      return printed;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

function nextLine(lines: Interface, errors: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`the samples' process ended: ${errors()}`));
    lines.once('close', ended);
    lines.once('line', (line) => {
      lines.off('close', ended);
      resolve(line);
    });
  });
}
