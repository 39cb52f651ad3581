/** What was asked for cannot be understood: one line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What others say, on one line that steers no terminal, and not longer than somebody reads. */
export function shortened(text: string, most = 200): string {
  const line = text
    .slice(0, most * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  if (line.length <= most) return line
  // Not within a character that takes two units.
  return `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** The words of something thrown, and of what caused it where that says more. */
export function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return shortened(String(thrown))
  const { message, cause } = thrown
  return shortened(cause instanceof Error ? `${message}: ${cause.message}` : message)
}

/** Shorter ones would be found in words that give nothing away. */
const shortestSecret = 6

/** What must never be said, and what says it instead. */
export class Secrets {
  /** The longest first: one may begin with another. */
  #values: string[] = []

  add(value: string): void {
    if (value.length < shortestSecret || this.#values.includes(value)) return
    this.#values = [...this.#values, value].toSorted((a, b) => b.length - a.length)
  }

  /** The same text without them. */
  hide(text: string): string {
    return this.#values.reduce((rest, value) => rest.replaceAll(value, '[secret]'), text)
  }
}
