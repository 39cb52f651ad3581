/** Zero characters, which PostgreSQL cannot store, and lone surrogates. */
const suspicious = /[\0\ud800-\udfff]/

/** Returns a text that PostgreSQL can store, in JSON too: without zero characters and lone surrogates. */
export const storable = (text: string): string =>
  suspicious.test(text) ? text.toWellFormed().replaceAll('\0', '') : text
