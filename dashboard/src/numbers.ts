const counts = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const dollars = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})

export const countOf = (count: number) => counts.format(count)

/** A number in as few characters as tell its size: 128K. */
export const sizeOf = (count: number) => short.format(count)

/** USD as served; a dash where there is no price. */
export const usdOf = (usd: number | null) => (usd === null ? '–' : dollars.format(usd))
