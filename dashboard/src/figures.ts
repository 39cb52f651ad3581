const counts = new Intl.NumberFormat()
const dollars = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})

export const countOf = (count: number) => counts.format(count)

/** USD as served; a dash where there is no price. */
export const usdOf = (usd: number | null) => (usd === null ? '–' : dollars.format(usd))
