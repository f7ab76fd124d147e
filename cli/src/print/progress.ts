import type { Output } from './output.ts';

export type Progress = { say(text: string): void; end(): void };

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** One line that moves while something is waited for; nothing at all where nobody watches. */
export function startProgress(out: Output, first: string): Progress {
  if (!out.isLively) return { say() {}, end() {} };
  const { stderr } = process;
  const startMs = performance.now();
  let text = first;
  let frame = 0;
  const draw = () => {
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    const sign = out.noteColors.cyan(frames[frame++ % frames.length] ?? '');
    stderr.write(`\r\u001b[2K${sign} ${text} ${out.noteColors.dim(`${seconds} s`)}`);
  };
  draw();
  const timer = setInterval(draw, frameMs);
  return {
    say(next) {
      text = next;
    },
    end() {
      clearInterval(timer);
      stderr.write('\r\u001b[2K');
    },
  };
}
