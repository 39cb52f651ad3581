/** Invalid command line or settings: one line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reduces foreign text to one line of readable length, without terminal control sequences. */
export function shortened(text: string, maxLength = 200): string {
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  if (line.length <= maxLength) return line
  // Not within a surrogate pair.
  return `${line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns the message of something thrown, with that of its cause where it adds something. */
export function toErrorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return shortened(String(thrown))
  const { message, cause } = thrown
  return shortened(cause instanceof Error ? `${message}: ${cause.message}` : message)
}

/** Shorter secrets would match ordinary words. */
const minSecretLength = 6

/** The secrets to redact, and their replacement. */
export class Secrets {
  /** Longest first: one may begin with another. */
  #values: string[] = []

  add(value: string): void {
    if (value.length < minSecretLength || this.#values.includes(value)) return
    this.#values = [...this.#values, value].toSorted((a, b) => b.length - a.length)
  }

  /** Returns the text with all secrets redacted. */
  hide(text: string): string {
    return this.#values.reduce((rest, value) => rest.replaceAll(value, '[secret]'), text)
  }
}
