import { toMessage } from './answer'
import { toChatRequest } from './request'
import { CountRequest, MessagesRequest } from './schema'
import { wording } from './wording'
import { MessageWriter } from './writer'
import type { ApiError } from '../../errors'
import { check } from '../../wire/json-body'
import type { Dialect, Translation } from '../dialect'

function translate(request: MessagesRequest | CountRequest): Translation {
  const refusals: ApiError[] = []
  const chat = toChatRequest(request, (error) => refusals.push(error))
  const type = request.thinking?.type
  const wanted = { thinking: type === 'enabled' || type === 'adaptive' }
  return {
    chat,
    refusal: refusals[0],
    answer: (completion) => toMessage(completion, wanted),
    writer: (identity) => new MessageWriter(identity, wanted),
  }
}

/** The Messages format of Anthropic. Source: wire.md 13.1. */
export const messages: Dialect = {
  wording,
  read: (body) => translate(check(MessagesRequest, body)),
}

/** The same, for a prompt whose tokens are to be counted. */
export const messagesToCount: Dialect = {
  wording,
  read: (body) => translate(check(CountRequest, body)),
}
