import type { EventWriter } from './event-writer'
import type { JsonObject } from './json-body'
import { pingFrame } from './sse'
import { toErrorBody, type ApiError } from '../errors'

/** The endpoint whose events a stream has. */
export type ImageEventPrefix = 'image_generation' | 'image_edit'

/** Writes an event whose JSON is at hand. */
export const toImageFrame = (type: string, data: string): string =>
  `event: ${type}\ndata: ${data}\n\n`

/** Tollgate's own events in a stream of images. Source: contract 4.15. */
export class ImageEventWriter implements EventWriter {
  keepAlive(): string {
    return pingFrame
  }

  write(frames: string): string {
    return frames
  }

  end(): string {
    return ''
  }

  fail(error: ApiError, requestId: string): string {
    const body: JsonObject = { type: 'error', ...toErrorBody(error, requestId) }
    return toImageFrame('error', JSON.stringify(body))
  }
}
