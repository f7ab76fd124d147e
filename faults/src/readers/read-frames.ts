/** A frame of server-sent events. Frames without data move the cursor only. */
type Frame = { id: string | null; data: string | null };

/** Parses a stream into whole frames; what is cut off in the middle of a frame is dropped, as a browser does. */
export async function* readFrames(
  body: AsyncIterable<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    onBytes();
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) yield parse(frame);
  }
}

function parse(text: string): Frame {
  const fields = text.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
  const valuesOf = (name: string) =>
    fields.filter((field) => field?.[1] === name).map((field) => field?.[2] ?? '');
  const data = valuesOf('data');
  return { id: valuesOf('id').at(-1) ?? null, data: data.length > 0 ? data.join('\n') : null };
}
