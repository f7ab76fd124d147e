import { expect, test } from 'vitest';
import { createSeats, type Seat } from './seats.ts';

const seat = (holder: string) => ({ holder }) as Seat;

test('a seat comes from the first worker that has room', async () => {
  const seats = createSeats();
  expect(await seats.take()).toBeNull();
  seats.offer(async () => null);
  expect(await seats.take()).toBeNull();
  seats.offer(async () => seat('second'));
  seats.offer(async () => expect.fail('the second has room'));
  expect(await seats.take()).toMatchObject({ holder: 'second' });
});

test('a worker that has ended is not asked for a seat', async () => {
  const seats = createSeats();
  const end = seats.offer(async () => seat('ended'));
  end();
  expect(await seats.take()).toBeNull();
});
