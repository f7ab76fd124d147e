type Waiting<Item> = { item: Item; done(): void; fail(error: Error): void };

/**
 * Collects what arrives during one write for the next: one write at a time, as large as the load makes it. The returned promises resolve
 * once their item is written.
 */
export function grouped<Item>(write: (items: Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const error = await write(batch.map(({ item }) => item)).then(
        () => null,
        (why: Error) => why,
      );
      for (const { done, fail } of batch) error ? fail(error) : done();
    }
    isWriting = false;
  }

  return (item) =>
    new Promise((done, fail) => {
      waiting.push({ item, done, fail });
      if (!isWriting) writeAll().catch(fail);
    });
}
