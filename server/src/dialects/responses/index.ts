import { toChat } from './chat'
import { toOriginal } from './original'
import { ResponsesRequest } from './request'
import { wording } from './wording'
import { ResponseWriter, wholeResponse } from './writer'
import { check } from '../../wire/json-body'
import type { Dialect } from '../dialect'

/** OpenAI's Responses, of which nothing is kept. Source: wire.md 13.3. */
export const responses = {
  wording,
  read(body) {
    const request = check(ResponsesRequest, body)
    // An answer does not repeat it, and a long stream need not hold it.
    const asked = { ...request, input: '' }
    const original = toOriginal(request)
    return {
      chat: toChat(request),
      original: { format: 'responses', body: original, headers: {}, paid: () => original },
      answer: (completion) => wholeResponse(asked, completion),
      writer: (identity) => new ResponseWriter(asked, identity),
    }
  },
} satisfies Dialect
