/** The beginning of an answer's body: whoever sends more, sends it to nobody, and its connection ends. */
export async function readStart(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= mostBytes) break; // leaving the loop destroys the stream
  }
  return Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8');
}
