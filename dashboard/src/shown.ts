const usdFormat = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})
const countFormat = new Intl.NumberFormat()
const percentFormat = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 2,
})
const unitFormat = (unit: string, maximumFractionDigits: number) =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits })
const milliseconds = unitFormat('millisecond', 0)
const seconds = unitFormat('second', 1)

const secondMs = 1000

/** An amount in USD, with all the decimals that the service tells. */
export const shownUsd = (usd: number) => usdFormat.format(usd)

export const shownCount = (count: number) => countFormat.format(count)

/** Of 100. */
export const shownPercent = (percent: number) => percentFormat.format(percent / 100)

/** How long something took; from a second on in seconds. */
export const shownDuration = (ms: number) =>
  ms < secondMs ? milliseconds.format(ms) : seconds.format(ms / secondMs)

/** A name of the interface in plain words: `waiting_on_customer` is “waiting on customer”. */
export const shownName = (name: string) => name.replaceAll('_', ' ')
