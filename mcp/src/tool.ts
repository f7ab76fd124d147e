import type {
  CallToolResult,
  ContentBlock,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Simplane } from '@simplane/sdk';
import { explainRefusal, isRefusal } from './explain-refusal.ts';
import { type ObjectSchema, shown } from './schema.ts';

export type ToolContext = {
  simplane: Simplane;
  /** Ends when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Ends when the process is about to: what is waited for can be asked again elsewhere. */
  stopping?: AbortSignal;
  /** Tells the client that work goes on, when it asked to be told. */
  report(progress: number, message: string): void;
};

type Definition<Args, Answer extends object> = {
  name: string;
  title: string;
  description: string;
  annotations: Required<Omit<ToolAnnotations, 'title'>>;
  input: ObjectSchema;
  output: ObjectSchema;
  run(context: ToolContext, args: Args): Promise<Answer>;
  /** What of the answer is the result, and what is better seen than read. The whole answer when left out. */
  show?(answer: Answer): { result: object; pictures: ContentBlock[] };
};

// biome-ignore lint/suspicious/noExplicitAny: each tool knows its own arguments; the list of them does not.
export type Tool = Definition<any, any>;

/** Keeps the types of one tool together. */
export function defineTool<Args, Answer extends object>(definition: Definition<Args, Answer>): Tool {
  return definition;
}

/** Reads nothing but the account's own data, and changes nothing. */
export const reading = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Adds something, again at each call, and the outside hears of it: a network, or the customer's own servers. */
export const adding = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;

type Parts = {
  simplane: Simplane;
  stopping?: AbortSignal;
  onCall?(call: Promise<unknown>): void;
  onError?(error: unknown): void;
};

export function registerTool(server: McpServer, parts: Parts, tool: Tool): void {
  const { name, title, description, annotations, input, output } = tool;
  server.registerTool(
    name,
    {
      title,
      description,
      annotations: { title, ...annotations },
      inputSchema: shown<Record<string, unknown>>(input),
      outputSchema: shown(output),
    },
    (args, ctx) => {
      const answer = call(tool, { ...parts, signal: ctx.mcpReq.signal, report: reporter(ctx) }, args);
      parts.onCall?.(answer);
      return answer;
    },
  );
}

async function call(tool: Tool, context: ToolContext & Parts, args: unknown): Promise<CallToolResult> {
  try {
    const answer = await tool.run(context, args);
    const { result, pictures } = tool.show?.(answer) ?? { result: answer, pictures: [] };
    return {
      content: [{ type: 'text', text: JSON.stringify(result) }, ...pictures],
      structuredContent: result,
    };
  } catch (error) {
    if (!isRefusal(error) && !context.signal.aborted) context.onError?.(error);
    const text = await explainRefusal(error, context.simplane);
    return { content: [{ type: 'text', text }], isError: true };
  }
}

function reporter({ mcpReq }: ServerContext): ToolContext['report'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  return (progress, message) => {
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}); // a client that left needs none
  };
}
