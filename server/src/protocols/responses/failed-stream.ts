import { toResponse, type Progress } from './response'
import { toFailure } from './error-format'
import type { ApiError } from '../../errors'
import { namedFrame } from '../../wire/sse'

/**
 * Returns the events of a prompt that is too long, in OpenAI's form for a stream: a Response that failed.
 * Codex, which accepts only streams, compacts a conversation by this event alone. Undefined for all other
 * errors, which have a status.
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
