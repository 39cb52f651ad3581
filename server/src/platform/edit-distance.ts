/**
 * Counts letters to insert, delete, replace or transpose (optimal string alignment distance). A distance beyond `max`
 * is returned as `max + 1`, as soon as it is certain.
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const row = nextRow(a, b, { i, last, beforeLast })
    // No later distance is below the least of two neighbouring rows.
    if (Math.min(...row) > max && Math.min(...last) > max) return max + 1
    beforeLast = last
    last = row
  }
  return Math.min(last[b.length] ?? 0, max + 1)
}

interface Rows {
  i: number
  last: readonly number[]
  beforeLast: readonly number[]
}

const at = (row: readonly number[], j: number) => row[j] ?? 0

function nextRow(a: string, b: string, { i, last, beforeLast }: Rows): number[] {
  const row = [i]
  for (let j = 1; j <= b.length; j += 1) {
    const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
    const best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced)
    const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
    row.push(isExchanged ? Math.min(best, at(beforeLast, j - 2) + 1) : best)
  }
  return row
}
