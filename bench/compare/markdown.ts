/** Formats a figure; a dash where there is none. */
export const number = (value: number | undefined, digits = 0): string =>
  value === undefined || Number.isNaN(value)
    ? '–'
    : value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })

const tableOf = (rows: string[][]): string =>
  rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Formats a table, whose figures are aligned to the right. */
export const table = (head: string[], rows: string[][]): string =>
  tableOf([head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows])

/** Formats a table of words. */
export const wordTable = (head: string[], rows: string[][]): string =>
  tableOf([head, head.map(() => '---'), ...rows])
