import type { Output } from './output.ts';

export type Progress = { update(text: string): void; end(): void };

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** Shows an animated line while waiting; does nothing unless standard error is a terminal. */
export function startProgress(out: Output, first: string): Progress {
  if (!out.showsProgress) return { update() {}, end() {} };
  const { stderr } = process;
  const startMs = performance.now();
  let text = first;
  let frame = 0;
  const draw = () => {
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    const spinner = out.noteColors.cyan(frames[frame++ % frames.length] ?? '');
    stderr.write(`\r\u001b[2K${spinner} ${text} ${out.noteColors.dim(`${seconds} s`)}`);
  };
  draw();
  const timer = setInterval(draw, frameMs);
  return {
    update(next) {
      text = next;
    },
    end() {
      clearInterval(timer);
      stderr.write('\r\u001b[2K');
    },
  };
}
