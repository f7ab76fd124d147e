import type { Command } from 'commander';
import { withAction } from '../action.ts';

/** `mcp`: standard output carries only protocol messages. */
export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('run a Model Context Protocol server on standard input and output');
  withAction(mcp, async ({ settings: { apiKey, baseUrl } }) => {
    const { serveStdio } = await import('@simplane/mcp');
    const server = serveStdio({ apiKey, baseUrl });
    await server.ended;
    await server.close();
  });
}
