/**
 * Preloaded into the sandbox that is pictured: its clock is behind by the milliseconds that the parent process sends.
 * Seeding moves it from last week to now, so the pictures show days of business instead of one minute.
 */
import { createRequire } from 'node:module';

const systemNow = Date.now;
const monotonicNow = performance.now.bind(performance);
const startedBehindMs = Number(process.env['CLOCK_BEHIND_MS']);
let behindMs = startedBehindMs;

Date.now = () => systemNow() - behindMs;

// The database's time too: a server whose clock differs from it stops its work.
performance.now = () => monotonicNow() + startedBehindMs - behindMs;
const require = createRequire(new URL('../../../server/package.json', import.meta.url));
const results: { addRow(row: Record<string, number>): void } = require('pg').Result.prototype;
const { addRow } = results;
results.addRow = function addEarlierRow(row) {
  addRow.call(this, row['now_ms'] === undefined ? row : { ...row, now_ms: row['now_ms'] - behindMs });
};

process.on('message', (ms: number) => {
  behindMs = ms;
  process.send?.('moved');
});
process.channel?.unref(); // it must not keep the server from ending
