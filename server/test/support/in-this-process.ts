type Finished = { code: number; stdout: string; stderr: string };

let isRunning = false;

/** Runs a command's function with this environment and with an exit code of its own. Returns what it prints instead of printing it. */
export async function inThisProcess(
  env: Record<string, string>,
  work: () => Promise<void>,
): Promise<Finished> {
  if (isRunning) throw new Error('commands share the environment and the output, so they run one by one');
  isRunning = true;
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const [stdout, stderr] = [divert(process.stdout), divert(process.stderr)];
  process.env = { PATH: ownEnv['PATH'] ?? '', ...env };
  process.exitCode = undefined;
  try {
    await work();
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = ownExitCode;
    process.env = ownEnv;
    for (const { restore } of [stdout, stderr]) restore();
    isRunning = false;
  }
}

function divert(stream: NodeJS.WriteStream) {
  const { write } = stream;
  let printed = '';
  stream.write = (chunk: Uint8Array | string, ...more: unknown[]) => {
    printed += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  const restore = () => {
    stream.write = write;
  };
  return { text: () => printed, restore };
}
