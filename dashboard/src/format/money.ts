// One rule writes amounts of USD everywhere:
//
// - a total, a balance or a limit has cents (`usd`); below a cent its first two digits count,
// - the cost of one request has cents from a dollar on, else four significant digits (`requestUsd`),
// - a price, and an amount that was entered or is compared to the last digit, has all digits (`exactUsd`).
//
// The title of a rounded amount has all of its digits (`Money`).

const currency = { style: 'currency', currency: 'USD' } as const
const cents = new Intl.NumberFormat(undefined, currency)
const twoDigits = new Intl.NumberFormat(undefined, { ...currency, maximumSignificantDigits: 2 })
/** The number of decimals of a nano-dollar. */
const maxDecimals = 9
/** By the maximum number of decimals; cents are always there. */
const upTo = Array.from({ length: maxDecimals + 1 }, (_, decimals) => {
  const maximumFractionDigits = Math.max(2, decimals)
  return new Intl.NumberFormat(undefined, {
    ...currency,
    minimumFractionDigits: 2,
    maximumFractionDigits,
  })
})
const allDigits = new Intl.NumberFormat(undefined, {
  ...currency,
  maximumFractionDigits: maxDecimals,
})

const minCents = 0.01
const dollar = 1
const significantDigits = 4

/** Stands for a missing amount. */
const unknown = '–'

/** A total, a balance or a limit: in cents; less than a cent shows its first two significant digits. */
export const usd = (amount: number): string =>
  amount !== 0 && Math.abs(amount) < minCents ? twoDigits.format(amount) : cents.format(amount)

/** The cost of one request: in cents from a dollar on, else with four significant digits. */
export function requestUsd(amount: number): string {
  if (amount === 0 || Math.abs(amount) >= dollar) return cents.format(amount)
  const exponent = Number(amount.toExponential().split('e')[1])
  const decimals = Math.min(maxDecimals, significantDigits - 1 - exponent)
  return (upTo[decimals] ?? allDigits).format(amount)
}

/** A price, or an amount to the last digit; a dash for null. */
export const exactUsd = (amount: number | null): string =>
  amount === null ? unknown : allDigits.format(amount)
