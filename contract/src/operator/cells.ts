import type { Static } from 'typebox';
import { nullableString } from '../schema.ts';
import { Type } from '../type.ts';

/** Why there is no answer of another cell. */
const cellTroubles = ['timeout', 'unreachable', 'key_refused', 'failed', 'invalid_answer'] as const;

export type CellTrouble = (typeof cellTroubles)[number];

export const cellLabel = (description: string) =>
  nullableString({ description: `${description}; null for the cell without a label.` });

/** Which cells an answer is of. */
export const askedCells = Type.Array(
  Type.Object({
    cell: cellLabel('Label of the cell'),
    answered: Type.Boolean({ description: 'Whether the answer includes what this cell has.' }),
    cause: Type.Optional(
      Type.Enum([...cellTroubles], {
        description:
          'Why not. `timeout`: no answer within 3 seconds. `unreachable`: no connection, or it was cut. `key_refused`: the cell does not accept the key in `SIMPLANE_CELLS`. `failed`: it answered with an error. `invalid_answer`: it answered with something else.',
      }),
    ),
  }),
  {
    description:
      'The cells that were asked, this one first. What one that has not answered has is missing here. Absent if this deployment knows no other cell (`SIMPLANE_CELLS`).',
  },
);

export type AskedCells = Static<typeof askedCells>;

export const ofOwnCell = Type.Optional(
  Type.Enum(['own'], {
    description: '`own`: only of the cell that gets the request. Omitted: of all cells that it knows.',
    examples: ['own'],
  }),
);

export const exampleCells: AskedCells = [
  { cell: null, answered: true },
  { cell: 'eu', answered: true },
];
