/** A column of a table: its heading, and the cell of a row. */
export type Column<Row> = readonly [
  heading: string,
  of: (row: Row) => string | number | boolean | null | undefined,
]

function formatCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  // Names given by others must not carry terminal control sequences.
  return String(value).replaceAll(/\p{Cc}/gu, ' ')
}

const isNumber = (text: string) => text === '-' || /^-?\d+(\.\d+)?$/.test(text)

/** Formats rows below headings, with columns of numbers aligned right. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return 'None found.\n'
  const cells = rows.map((row) => columns.map(([, of]) => formatCell(of(row))))
  const all = [columns.map(([heading]) => heading), ...cells]
  const widths = columns.map((_, at) => Math.max(...all.map((line) => (line[at] ?? '').length)))
  const right = columns.map((_, at) => cells.every((line) => isNumber(line[at] ?? '')))
  const lines = all.map((line) =>
    line
      .map((text, at) => {
        const width = widths[at] ?? 0
        return right[at] ? text.padStart(width) : text.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** Formats one object, a line for each field. */
export function facts(fields: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(fields).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value ?? null),
  }))
  const width = Math.max(...rows.map(({ name }) => name.length))
  return rows
    .map(
      ({ name, text }) => `${name.padEnd(width)}  ${formatCell(text === 'null' ? null : text)}\n`,
    )
    .join('')
}
