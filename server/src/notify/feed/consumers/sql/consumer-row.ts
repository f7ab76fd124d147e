export type ConsumerRow = {
  name: string;
  position: number;
  mark: number;
  /** Null: all types. */
  types: string[] | null;
  created_at: Date;
  behind: number;
  /** The id of the first event after its place; null if there is none. */
  next_event_id: string | null;
};

/** Selects a `ConsumerRow` from `event_consumers c`. */
export const consumerColumns = `c.name, c.position, c.mark, c.types, c.created_at,
  greatest(0, coalesce((
    select last_position from event_feed_heads where account_id = c.account_id), 0) - c.position) as behind,
  (select run.event_ids[(c.position + 2 - run.first_position)::integer]
    from event_feed run
    where run.account_id = c.account_id and run.first_position <= c.position + 1
    order by run.first_position desc
    limit 1) as next_event_id`;
