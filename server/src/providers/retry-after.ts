/** `Retry-After` in seconds or as a date; undefined when it is neither. */
export function retryAfterSeconds(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}

/** The wait that a text announces, in seconds; undefined where it announces none. */
export function readSeconds(words: string): number | undefined {
  const match = /(?:try again in|retry after) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s|seconds?)?/i.exec(
    words,
  )
  if (!match) return undefined
  return Number(match[1]) / (match[2] === 'ms' ? 1000 : 1)
}
