/** Numbers formatted in the browser's language. */
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })
const fractions = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
})
const allDigits = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 9,
})
const integers = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const upTo = (digits: number) => new Intl.NumberFormat(undefined, { maximumFractionDigits: digits })
const [zero, one, two] = [upTo(0), upTo(1), upTo(2)]

const minCents = 0.01
const secondMs = 1000
/** Shorter durations are shown with one decimal. */
const fineMs = 10

/** Stands for a missing value. */
const unknown = '–'

/** An amount of USD in cents; less than a cent shows its first significant digits. */
export const usd = (amount: number): string =>
  amount !== 0 && Math.abs(amount) < minCents ? fractions.format(amount) : dollars.format(amount)

/** An amount of USD with all digits; a dash for null. */
export const exactUsd = (amount: number | null): string =>
  amount === null ? unknown : allDigits.format(amount)

export const count = (value: number): string => integers.format(value)

/** A count with its noun, plural by `s`: 1 request, 2 requests. */
export const formatCount = (value: number, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : `${noun}s`}`

/** An abbreviated number: 12K. */
export const compact = (value: number): string => short.format(value)

/** A percentage; a dash for null. */
export const percent = (value: number | null): string =>
  value === null ? unknown : `${two.format(value)}%`

/** Tokens per second; a dash for null. */
export const speed = (tokens: number | null): string =>
  tokens === null ? unknown : `${one.format(tokens)} tokens/s`

/** Milliseconds; a dash for null. */
export const duration = (ms: number | null): string => {
  if (ms === null) return unknown
  return ms < secondMs
    ? `${(ms < fineMs ? one : zero).format(ms)} ms`
    : `${one.format(ms / secondMs)} s`
}
