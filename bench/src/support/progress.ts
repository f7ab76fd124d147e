/** One line that says what is being done, rewritten in place on a terminal, and a line each elsewhere. */
export function showProgress(name: string) {
  const { stderr } = process;
  return {
    show(what: string): void {
      const line = `${name}: ${what}`;
      stderr.write(stderr.isTTY ? `\r\x1b[2K${line.slice(0, stderr.columns - 1)}` : `${line}\n`);
    },
    end(): void {
      if (stderr.isTTY) stderr.write('\r\x1b[2K');
    },
  };
}
