import type {
  CallToolResult,
  ContentBlock,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Scope } from '@simplane/contract';
import type { Simplane } from '@simplane/sdk';
import { boundObject } from './bound-answer.ts';
import { explainRefusal, isRefusal } from './explain-refusal.ts';
import { rejectUnknownArguments } from './invalid-argument.ts';
import { type ObjectSchema, unvalidated } from './schema.ts';

export type ToolContext = {
  simplane: Simplane;
  /** Aborted when the client cancels the call. */
  signal: AbortSignal;
  /** Aborted at shutdown. */
  stopping?: AbortSignal;
  /** Sends a progress notification if the client asked for them. */
  report(progress: number, message: string): void;
};

type Definition<Args, Result extends object> = {
  name: string;
  title: string;
  description: string;
  /** Keys without it are not shown the tool. */
  scope: Scope;
  annotations: Required<Omit<ToolAnnotations, 'title'>>;
  input: ObjectSchema;
  output: ObjectSchema;
  run(context: ToolContext, args: Args): Promise<Result>;
  /** The tool's names for parameters that the API calls otherwise, for error messages. */
  argumentNames?(args: Args): Record<string, string>;
  /** Splits images from the result. If omitted, the whole result is returned as JSON. */
  splitImages?(result: Result): { result: object; images: ContentBlock[] };
};

// biome-ignore lint/suspicious/noExplicitAny: the list of tools cannot know each tool's types.
export type Tool = Definition<any, any>;

/** Checks that the parts of a tool have matching types. */
export function defineTool<Args, Result extends object>(definition: Definition<Args, Result>): Tool {
  return definition;
}

/** Reads the account's own data. */
export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Creates something on every call and contacts outside systems: a network, or the customer's servers. */
export const creating = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;

type Deps = {
  simplane: Simplane;
  stopping?: AbortSignal;
  onCall?(call: Promise<unknown>): void;
  onError?(error: unknown): void;
};

export function registerTool(server: McpServer, deps: Deps, tool: Tool): void {
  const { name, title, description, annotations, input, output } = tool;
  server.registerTool(
    name,
    {
      title,
      description,
      annotations: { title, ...annotations },
      inputSchema: unvalidated<Record<string, unknown>>(input),
      outputSchema: unvalidated(output),
    },
    (args, ctx) => {
      const result = call(tool, { ...deps, signal: ctx.mcpReq.signal, report: reporter(ctx) }, args);
      deps.onCall?.(result);
      return result;
    },
  );
}

async function call(tool: Tool, context: ToolContext & Deps, args: object = {}): Promise<CallToolResult> {
  try {
    rejectUnknownArguments(args, Object.keys(tool.input.properties));
    const whole = await tool.run(context, args);
    const { result: unbounded, images } = tool.splitImages?.(whole) ?? { result: whole, images: [] };
    const result = boundObject(unbounded);
    return {
      content: [{ type: 'text', text: JSON.stringify(result) }, ...images],
      structuredContent: result,
    };
  } catch (error) {
    if (!isRefusal(error) && !context.signal.aborted) context.onError?.(error);
    const text = await explainRefusal(error, context.simplane, tool.argumentNames?.(args));
    return { content: [{ type: 'text', text }], isError: true };
  }
}

function reporter({ mcpReq }: ServerContext): ToolContext['report'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  return (progress, message) => {
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}); // the client has disconnected
  };
}
