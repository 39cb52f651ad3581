/** Returns the minimum of three measurements, or the first within `limit`, to tolerate a busy machine. */
export async function minOf(limit: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 3 && least > limit; run++) least = Math.min(least, await measure())
  return least
}
