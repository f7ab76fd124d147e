type BarsProps = {
  counts: readonly number[];
  /** How many of each count failed. */
  failed?: readonly number[];
  /** What a screen reader says of it. */
  finding: string;
};

// Fewer bars leave the rest empty instead of growing into blocks.
const minBars = 24;

/** Counts over time as bars, the newest at the right. */
export function Bars({ counts, failed = [], finding }: BarsProps) {
  const highest = Math.max(1, ...counts);
  const width = 100 / Math.max(minBars, counts.length);
  const start = 100 - counts.length * width;
  return (
    <svg className="bars" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={finding}>
      {counts.map((count, index) => {
        const heightOf = (part: number) => (part === 0 ? 0 : Math.max(2, (part / highest) * 24));
        const bar = { x: start + index * width + width * 0.1, width: width * 0.8 };
        const [height, bad] = [heightOf(count) || 0.5, heightOf(failed[index] ?? 0)];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in time
          <g key={index}>
            <rect {...bar} y={24 - height} height={height} className={count === 0 ? 'none' : ''} />
            {bad > 0 && <rect {...bar} y={24 - bad} height={bad} className="failed" />}
          </g>
        );
      })}
    </svg>
  );
}

/** A share between 0 and 1 as a bar. */
export function Meter({
  share,
  label,
  isWarning = false,
}: {
  share: number;
  label: string;
  isWarning?: boolean;
}) {
  return (
    <svg
      className={isWarning ? 'meter warn' : 'meter'}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect width="100" height="4" className="rail" />
      <rect width={Math.min(1, Math.max(0, share)) * 100} height="4" />
    </svg>
  );
}
