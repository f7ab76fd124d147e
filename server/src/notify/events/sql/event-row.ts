export type EventRow = { id: string; body: string };
