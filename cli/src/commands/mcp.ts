import type { Command } from 'commander';
import { withAction } from '../action.ts';

/** `mcp`: standard output belongs to the protocol from here on. */
export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('serve agents over the Model Context Protocol, on standard input and output');
  withAction(mcp, async ({ settings: { apiKey, baseUrl } }) => {
    const { serveStdio } = await import('@simplane/mcp');
    const server = serveStdio({ apiKey, baseUrl });
    await server.ended;
    await server.close();
  });
}
