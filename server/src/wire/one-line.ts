/**
 * Whether text stays in one line wherever it is shown: without control characters, line and paragraph separators,
 * and characters that turn the direction of what follows.
 */
export const isOneLine = (text: string): boolean =>
  !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text)

/** Returns text with a space for each run of white space, and none around it. */
export const collapseSpaces = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/**
 * Returns text as one line of at most `max` characters: each character that `isOneLine` refuses becomes a
 * space.
 */
export const toOneLine = (text: string, max: number): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+/gu, ' ')
    .trim()
    .slice(0, max)
    .trim()
