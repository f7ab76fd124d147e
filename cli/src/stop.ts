export type Stop = {
  /** Aborted when a stop is requested. */
  signal: AbortSignal;
  requested: Promise<void>;
  request(): void;
};

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** The first signal requests a graceful stop; a later one ends the process at once. */
export function handleStopSignals(): Stop {
  const controller = new AbortController();
  let firstSignalMs: number | null = null;
  for (const [name, number] of Object.entries(signals)) {
    process.on(name, () => {
      firstSignalMs ??= performance.now();
      // Under npx one Ctrl-C arrives twice: from the terminal and forwarded by npx.
      if (performance.now() - firstSignalMs > 1_000) process.exit(128 + number);
      controller.abort();
    });
  }
  return {
    signal: controller.signal,
    requested: new Promise((resolve) => {
      controller.signal.addEventListener('abort', () => resolve(), { once: true });
    }),
    request: () => controller.abort(),
  };
}
