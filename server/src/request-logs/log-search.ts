import { getIdTime, idAlphabet } from '../platform/db/id'

/** Logs whose ids begin with a text: those between two ids, which began between two times. */
export interface IdSearch {
  firstId: string
  lastId: string
  from: Date
  to: Date
}

/** A text that requests are found by: the begin of their ids, else a part of an error's code or message. */
export type LogSearch = IdSearch | { errorText: string }

/** The length of an id without its prefix. */
const idLength = 26
/** The largest difference between the time in a request's id and the logged start. */
export const idSlackMs = 60_000

/**
 * The id of a request, or its first 8 characters and more. The id of an answer has the same characters after another
 * prefix; a message in an answer's output has three more.
 */
const idText = /^(?:req_|chatcmpl-|cmpl-|resp_|msg_)([0-9a-hjkmnp-tv-z]{4,26})(?:000)?$/

const [lowest = ''] = idAlphabet
const highest = idAlphabet.at(-1) ?? ''

/** Reads a text to search by. */
export function toLogSearch(text: string): LogSearch {
  const [, start] = idText.exec(text.toLowerCase()) ?? []
  if (start === undefined) return { errorText: text }
  const firstId = `req_${start.padEnd(idLength, lowest)}`
  const lastId = `req_${start.padEnd(idLength, highest)}`
  return {
    firstId,
    lastId,
    from: new Date(getIdTime(firstId) - idSlackMs),
    to: new Date(getIdTime(lastId) + idSlackMs),
  }
}
