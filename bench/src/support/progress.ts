/** Shows progress on one line, rewritten in place on a terminal; elsewhere prints a line per step. */
export function showProgress(name: string) {
  const { stderr } = process;
  return {
    show(text: string): void {
      const line = `${name}: ${text}`;
      stderr.write(stderr.isTTY ? `\r\x1b[2K${line.slice(0, stderr.columns - 1)}` : `${line}\n`);
    },
    end(): void {
      if (stderr.isTTY) stderr.write('\r\x1b[2K');
    },
  };
}
