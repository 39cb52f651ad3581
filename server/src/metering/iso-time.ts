const thousandths = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

let lastSecond = { secondMs: -1, text: '' }

/**
 * Formats a moment, in whole milliseconds since the epoch, as ISO 8601 in UTC. Each attempt has one, so the text
 * of the second is cached for all attempts that begin in it.
 */
export function formatIsoTime(ms: number): string {
  const rest = ms % 1000
  if (ms - rest !== lastSecond.secondMs) {
    const text = new Date(ms - rest).toISOString()
    lastSecond = { secondMs: ms - rest, text: text.slice(0, -4) }
  }
  return `${lastSecond.text}${thousandths[rest]}`
}
