import { toResponse, type Progress } from './response'
import { toFailure } from './error-format'
import type { ApiError } from '../../errors'
import { namedFrame } from '../../wire/sse'

/**
 * A prompt that is too long as OpenAI tells it to a stream: a Response that failed. Codex, which takes
 * nothing but streams, compacts a conversation by this event alone. Undefined for all else, which has a
 * status.
 */
export function createFailedStream(error: ApiError, requestId: string): string | undefined {
  if (error.code !== 'context_length_exceeded') return undefined
  const head = { id: `resp_${requestId.replace(/^req_/, '')}`, created: now(), model: '' }
  const response = (progress: Progress) => toResponse({ model: '', input: '' }, head, progress)
  const events = [
    { type: 'response.created', response: response({ status: 'in_progress', output: [] }) },
    {
      type: 'response.failed',
      response: response({ status: 'failed', output: [], error: toFailure(error, requestId) }),
    },
  ]
  return events
    .map(({ type, ...rest }, at) => namedFrame({ type, sequence_number: at, ...rest }))
    .join('')
}

const now = () => Math.floor(Date.now() / 1000)
