type SseMessage = { id: string; event: string; data: string };

export type SseReader = {
  /** Every block that has arrived, also those that carry only an id. */
  blocks: string[];
  messages: SseMessage[];
  /** The last id that was sent, with or without an event. */
  lastId(): string;
  comments(): number;
  status: number;
  /** The whole body if the response is not a stream. */
  text: string;
  ended: Promise<void>;
  close(): void;
};

/** Follows a stream of server-sent events with `fetch`. */
export async function openSse(
  target: { url: string; key: string },
  path: string,
  headers: Record<string, string> = {},
): Promise<SseReader> {
  const abort = new AbortController();
  const response = await fetch(target.url + path, {
    headers: { Authorization: `Bearer ${target.key}`, Accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const reader: SseReader = {
    blocks: [],
    messages: [],
    lastId: () => fieldOf(reader.blocks.findLast((block) => /^id: /m.test(block)) ?? '', 'id'),
    comments: () => reader.blocks.filter((block) => block.startsWith(':')).length,
    status: response.status,
    text: isStream ? '' : await response.text(),
    ended: Promise.resolve(),
    close: () => abort.abort(),
  };
  if (isStream) reader.ended = follow(response, reader).catch(() => {});
  return reader;
}

async function follow(response: Response, reader: SseReader): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      reader.blocks.push(block);
      const data = fieldOf(block, 'data');
      if (data !== '')
        reader.messages.push({ id: fieldOf(block, 'id'), event: fieldOf(block, 'event'), data });
    }
  }
}

function fieldOf(block: string, name: string): string {
  return (
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? ''
  );
}
