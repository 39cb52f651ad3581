import type { EventWriter } from './event-writer'
import { frame, pingFrame } from './sse'
import { toErrorBody, type ApiError } from '../errors'

/** Writes the events of a transcript, which are frames already. */
export class TranscriptWriter implements EventWriter {
  keepAlive(): string {
    return pingFrame
  }

  write(chunk: string): string {
    return chunk
  }

  end(): string {
    return ''
  }

  fail(error: ApiError, requestId: string): string {
    return frame(JSON.stringify({ type: 'error', ...toErrorBody(error, requestId) }))
  }
}
