// Preloaded to shift a server's wall clock by the milliseconds in the file CLOCK_SHIFT_FILE, which the test may change meanwhile.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let shiftMs = 0;

function readShift() {
  const text = readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8');
  if (text !== '') shiftMs = Number(text); // empty while it is rewritten
}

readShift();
setInterval(readShift, 50).unref();

const now = () => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values) => new target(...(values.length === 0 ? [now()] : values)),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
