export type Stop = {
  /** Aborted as soon as an end is asked for. */
  signal: AbortSignal;
  asked: Promise<void>;
  ask(): void;
};

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** From here on a signal asks for an end instead of being one; a later one ends the process at once. */
export function awaitStop(): Stop {
  const controller = new AbortController();
  let firstAtMs: number | null = null;
  for (const [name, number] of Object.entries(signals)) {
    process.on(name, () => {
      firstAtMs ??= performance.now();
      // One Ctrl-C reaches us twice under npx: from the terminal, and passed on.
      if (performance.now() - firstAtMs > 1_000) process.exit(128 + number);
      controller.abort();
    });
  }
  return {
    signal: controller.signal,
    asked: new Promise((resolve) => {
      controller.signal.addEventListener('abort', () => resolve(), { once: true });
    }),
    ask: () => controller.abort(),
  };
}
