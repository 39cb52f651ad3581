const nameWidth = 52
const columnWidth = 19

/** Formats a line: a name, and columns that end below each other. */
export const row = (name: string, columns: readonly string[]): string =>
  `${name.padEnd(nameWidth)}${columns.map((one) => one.padStart(columnWidth)).join('')}`.trimEnd()

export const count = (number: number): string => Math.round(number).toLocaleString('en-US')

/** Formats nano-dollars as dollars. */
export const usd = (nano: number): string =>
  (nano / 1e9).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Formats a share of 1. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Formats milliseconds. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
