import { toChat } from './chat'
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
    return {
      chat: toChat(request),
      answer: (completion) => wholeResponse(asked, completion),
      writer: (identity) => new ResponseWriter(asked, identity),
    }
  },
} satisfies Dialect
