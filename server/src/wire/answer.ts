import { toErrorBody, type ApiError } from '../errors'

/** The maximum length of a provider's answer that is read as a whole, and of one event of a stream. */
export const maxAnswerBytes = 20 * 1024 * 1024

/** The fields at the head of every chunk and answer of one request. */
export interface Identity {
  id: string
  object: 'chat.completion.chunk' | 'chat.completion' | 'text_completion'
  /** Unix seconds. */
  created: number
  /** `<provider>/<model>` as it was served. */
  model: string
}

/** Ids of the OpenAI wire are made from the request's. */
export const answerId = (requestId: string, prefix: 'chatcmpl' | 'cmpl' | 'modr' | 'rerank') =>
  `${prefix}-${requestId.slice(requestId.indexOf('_') + 1)}`

/** Returns an answer's id without its prefix, for formats that have another. */
export const bareAnswerId = (id: unknown) => String(id).replace(/^[a-z]+-/, '')

/**
 * The last frame of a stream that failed after it began: a chunk that every reader takes, with the
 * error beside it. Source: contract 4.3.
 */
export function toErrorChunk(identity: Identity, error: ApiError, requestId: string): string {
  const choice =
    identity.object === 'text_completion'
      ? { index: 0, text: '', finish_reason: 'error' }
      : { index: 0, delta: {}, finish_reason: 'error' }
  return JSON.stringify({ ...identity, choices: [choice], ...toErrorBody(error, requestId) })
}
