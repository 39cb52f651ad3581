/**
 * A simulated token of the sandbox is a piece of text between whitespace (space, tab, line ends), and a
 * text that is read has at least one. An empty written text has none.
 */

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13)

/** Returns the end of the piece that begins at or after `start`, `bound` at the latest. */
function pieceEnd(text: string, start: number, bound: number): number {
  let at = start
  while (at < bound && isSpace(text.charCodeAt(at))) at += 1
  while (at < bound && !isSpace(text.charCodeAt(at))) at += 1
  return at
}

function countPieces(text: string): number {
  let pieces = 0
  let wasSpace = true
  for (let at = 0; at < text.length; at += 1) {
    const space = isSpace(text.charCodeAt(at))
    if (wasSpace && !space) pieces += 1
    wasSpace = space
  }
  return pieces
}

/** Tokens of a text that is read. */
export const countPromptTokens = (text: string): number => Math.max(1, countPieces(text))

/** Tokens of a text that was written. */
export const countAnswerTokens = (text: string): number =>
  text === '' ? 0 : Math.max(1, countPieces(text))

/** The first `limit` tokens of a text; the text itself when it has no more. */
export function takeTokens(text: string, limit: number): string {
  let end = 0
  for (let tokens = 0; tokens < limit && end < text.length; tokens += 1) {
    end = pieceEnd(text, end, text.length)
  }
  return countPieces(text.slice(end)) === 0 ? text : text.slice(0, end)
}

/** The text before the first of `stops`, undefined when none occurs. */
export function cutAtStop(text: string, stops: readonly string[]): string | undefined {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place !== -1)
  return places.length === 0 ? undefined : text.slice(0, Math.min(...places))
}

/** `text` with at most `length` UTF-16 units; a surrogate pair is not cut in half. */
export function shortenText(text: string, length: number): string {
  if (text.length <= length) return text
  const isPair = (text.codePointAt(length - 1) ?? 0) > 0xffff
  return text.slice(0, isPair ? length - 1 : length)
}

const wordsPerSlice = 4

/** A text in the slices that a stream sends: a few words each, joined the text again. */
export function* sliceText(text: string, maxLength = 1024): Generator<string> {
  for (let start = 0; start < text.length;) {
    const bound = Math.min(start + maxLength, text.length)
    let end = start
    for (let wordCount = 0; wordCount < wordsPerSlice; wordCount += 1)
      end = pieceEnd(text, end, bound)
    // Half a pair would be replaced on its way; the slice before it is one unit shorter instead.
    const slice = shortenText(text.slice(start, end + 1), end - start)
    yield slice
    start += slice.length
  }
}
