// Preloaded to shift a server's wall clock by the milliseconds last written to its standard input.

const RealDate = Date;
let shiftMs = 0;
const now = () => RealDate.now() + shiftMs;

process.stdin.on('data', (chunk) => {
  shiftMs = Number(chunk.toString().trim().split('\n').at(-1));
});

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values) => Reflect.construct(target, values.length === 0 ? [now()] : values),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
