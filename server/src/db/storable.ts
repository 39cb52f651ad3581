/** What PostgreSQL has no character for, and halves of pairs. */
const suspicious = /[\0\ud800-\udfff]/

/** A text as PostgreSQL keeps it, in JSON too: without zero characters and halves of pairs. */
export const storable = (text: string): string =>
  suspicious.test(text) ? text.toWellFormed().replaceAll('\0', '') : text
