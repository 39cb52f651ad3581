type Cell = string | number | boolean | null

/**
 * Encodes a cell according to RFC 4180. A value that a spreadsheet would evaluate as a formula gets a
 * leading apostrophe: model names come from callers.
 */
function cellOf(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Encodes rows as comma-separated values, with a header line of the column names. */
export function toCsv<Row extends object>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
): string {
  const lines = rows.map((row) => columns.map((column) => cellOf(cellValue(row[column]))).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}

function cellValue(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value
  }
  return JSON.stringify(value)
}

/** Downloads a text as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
