/**
 * Preloaded into the sandbox that is pictured: its clock is behind by the milliseconds that the parent process sends.
 * Seeding moves it from last week to now, so the pictures show days of business instead of one minute.
 */
const systemNow = Date.now;
let behindMs = Number(process.env['CLOCK_BEHIND_MS']);

Date.now = () => systemNow() - behindMs;

process.on('message', (ms: number) => {
  behindMs = ms;
  process.send?.('moved');
});
process.channel?.unref(); // it must not keep the server from ending
