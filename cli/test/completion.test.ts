import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startCli } from './support/run-cli.ts';

const script = async (shell: string) => (await startCli(['completion', shell]).ended).stdout;

/** Returns the completions bash offers at the end of each line. */
async function complete(source: string, lines: string[][]): Promise<string[][]> {
  const press = (words: string[]) =>
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _simplane; echo "\${COMPREPLY[*]}"`;
  const program = [source, ...lines.map(press)].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', program]);
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => line.split(' '));
}

describe('completion', () => {
  it('in bash completes commands, options and their values', async () => {
    const [commands, esims, options, values, types, shells, none] = await complete(await script('bash'), [
      ['simplane', 'e'],
      ['simplane', '--json', 'esims', ''],
      ['simplane', 'esims', 'list', '--l'],
      ['simplane', 'esims', 'list', '--status', 's'],
      ['simplane', 'trigger', 'bundle.u'],
      ['simplane', 'completion', ''],
      ['simplane', 'esims', 'get', 'x'],
    ]);
    expect(commands).toEqual(['esims', 'executions', 'events']);
    expect(esims).toEqual(
      expect.arrayContaining(['create', 'get', 'list', 'qr', 'suspend', 'resume', '--json']),
    );
    expect(options).toEqual(['--limit']);
    expect(values).toEqual(['suspended']);
    expect(types).toEqual(['bundle.usage_threshold']);
    expect(shells).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    expect(none).toEqual(['']);
  });

  it('in zsh and fish includes every command, and quotes every word', async () => {
    for (const shell of ['zsh', 'fish']) {
      const text = await script(shell);
      for (const word of ['rotate-secret', 'esim.provisioned', 'terminate']) expect(text).toContain(word);
      // Special characters from descriptions never appear outside quotes and comments.
      const bare = text
        .replace(/#.*$/gm, '')
        .replace(/'(?:[^'\\]|\\.)*'/g, '')
        .replace(/"(?:[^"\\]|\\.)*"/g, '');
      expect(bare).not.toMatch(/[’`<>&]/);
    }
  });

  it('rejects an unsupported shell', async () => {
    expect(await startCli(['completion', 'tcsh']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
