import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startCli } from './support/run-cli.ts';

const script = async (shell: string) => (await startCli(['completion', shell]).ended).stdout;

/** What bash offers when Tab is pressed at the end of these words. */
async function offered(source: string, lines: string[][]): Promise<string[][]> {
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
  it('in bash knows commands, options and the values they take', async () => {
    const [commands, esims, options, values, types, shells, none] = await offered(await script('bash'), [
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

  it('in zsh and fish names every command, quoted so that no word is read as code', async () => {
    for (const shell of ['zsh', 'fish']) {
      const text = await script(shell);
      for (const word of ['rotate-secret', 'esim.provisioned', 'terminate']) expect(text).toContain(word);
      // Outside quotes and comments there is none of what descriptions may hold.
      const bare = text
        .replace(/#.*$/gm, '')
        .replace(/'(?:[^'\\]|\\.)*'/g, '')
        .replace(/"(?:[^"\\]|\\.)*"/g, '');
      expect(bare).not.toMatch(/[’`<>&]/);
    }
  });

  it('refuses a shell that it has no script for', async () => {
    expect(await startCli(['completion', 'tcsh']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
