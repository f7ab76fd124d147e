import type { CallToolResult, Client } from '@modelcontextprotocol/client';

// biome-ignore lint/suspicious/noExplicitAny: the tests assert the content of the JSON.
type Json = any;

/** Calls a tool that must succeed and returns its structured result, which its text must equal. */
export async function callTool(client: Client, name: string, args: object = {}): Promise<Json> {
  const { content, structuredContent, isError } = await callRaw(client, name, args);
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  if (isError) throw new Error(text);
  if (text !== JSON.stringify(structuredContent))
    throw new Error(`the text differs from the structured result: ${text}`);
  return structuredContent;
}

/** Calls a tool that must fail and returns its error text. */
export async function refusalOf(client: Client, name: string, args: object = {}): Promise<string> {
  const { content, isError } = await callRaw(client, name, args);
  const [first] = content;
  if (!isError || first?.type !== 'text') throw new Error(`not refused: ${JSON.stringify(content)}`);
  return first.text;
}

export async function callRaw(client: Client, name: string, args: object = {}): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
}
