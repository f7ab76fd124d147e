/** Resolves with the first signal. Another one, a second or more later, exits at once. */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        firstAtMs ??= performance.now();
        // Under `npm start` one Ctrl-C arrives twice: from the terminal and from npm.
        if (performance.now() - firstAtMs > 1_000) process.exit(1);
        resolve(name);
      });
    }
  });
}
