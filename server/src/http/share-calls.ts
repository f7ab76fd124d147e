/** Calls that overlap share one result. One that succeeded is also used for `freshMs` afterwards. */
export function shareCalls<T>(call: () => Promise<T>, freshMs = 0): () => Promise<T> {
  let shared: Promise<T> | null = null;
  const forget = () => {
    shared = null;
  };
  return () => {
    if (shared) return shared;
    const result = call();
    result.then(() => void setTimeout(forget, freshMs).unref(), forget);
    shared = result;
    return result;
  };
}
