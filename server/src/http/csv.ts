type Cell = string | number | null

/** A number is no formula, although it may begin with a sign. */
const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text)

/**
 * Encodes a cell according to RFC 4180. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe:
 * descriptions and names come from people.
 */
function encodeCell(value: Cell): string {
  const text = value === null ? '' : String(value)
  const inert = /^[=+\-@\t\r\n]/.test(text) && !isNumber(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** Encodes a line of comma-separated values, its end included. */
export const toCsvLine = (cells: readonly Cell[]): string =>
  `${cells.map(encodeCell).join(',')}\r\n`

/** Streams lines of text as they are read. */
export function streamLines(lines: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = lines.next()
        if (next.done === true) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
    },
    { highWaterMark: 0 },
  )
}
