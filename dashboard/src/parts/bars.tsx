/** Counts over time as bars. `finding` is what a screen reader says of it. */
export function Bars({ counts, finding }: { counts: readonly number[]; finding: string }) {
  const highest = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  return (
    <svg className="bars" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={finding}>
      {counts.map((count, index) => {
        const height = count === 0 ? 0.5 : Math.max(2, (count / highest) * 24);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in time
            key={index}
            x={index * width + width * 0.1}
            y={24 - height}
            width={width * 0.8}
            height={height}
            className={count === 0 ? 'none' : ''}
          />
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
