/** Numbers formatted in the browser's language. */
const integers = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const upTo = (digits: number) => new Intl.NumberFormat(undefined, { maximumFractionDigits: digits })
const signed = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
})
const [zero, one, two] = [upTo(0), upTo(1), upTo(2)]

const secondMs = 1000
/** Shorter durations are shown with one decimal. */
const fineMs = 10

/** Stands for a missing value. */
const unknown = '–'

export const count = (value: number): string => integers.format(value)

/** A count with its noun, plural by `s`: 1 request, 2 requests. */
export const formatCount = (value: number, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : `${noun}s`}`

/** An abbreviated number: 12K. */
export const compact = (value: number): string => short.format(value)

/** A percentage; a dash for null. */
export const percent = (value: number | null): string =>
  value === null ? unknown : `${two.format(value)}%`

/** A change in percent, with its sign; a dash for null. */
export const formatChange = (value: number | null): string =>
  value === null ? unknown : `${signed.format(value)}%`

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
