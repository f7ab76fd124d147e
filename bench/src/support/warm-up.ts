// Node compiles its hot code during the first runs: a delivery costs 300 µs of its CPU in the first run of 6,000, 120 in the
// second and 90 from the sixth on.
const runsPerSide = 6;

/** Runs every side until its code is compiled. A service runs for days, so the time before that is not measured. */
export async function warmUp(...sides: (() => Promise<unknown>)[]): Promise<void> {
  for (let run = 0; run < runsPerSide; run++) {
    for (const side of sides) await side();
  }
}
