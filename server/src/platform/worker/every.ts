type Work = (stopping: AbortSignal) => Promise<unknown>;

/** Runs `work` repeatedly with a pause in between, never concurrently. `stop` aborts the current run and waits for it. */
export function every(pauseMs: number, work: Work, onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout;
  let running: Promise<unknown> = Promise.resolve();
  const stopping = new AbortController();

  function schedule() {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      running = work(stopping.signal).catch(onError).finally(schedule);
    }, pauseMs);
    timer.unref();
  }

  schedule();
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
