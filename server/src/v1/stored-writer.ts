import type { ApiError } from '../errors'
import type { StoredTurn } from '../stored-responses/response-turn'
import type { EventWriter } from '../wire/event-writer'
import { isObject } from '../wire/json-body'
import { namedFrame } from '../wire/sse'

/** Matches events that contain the whole Response. */
const lifecycle = /^event: response\.(?:queued|created|in_progress|completed|incomplete|failed)\n/

const isLast = (type: string) => type === 'response.completed' || type === 'response.incomplete'

/** Writes the events of a Response with its storage fields; the last one is stored if requested. */
export class StoredWriter implements EventWriter {
  readonly #own: EventWriter
  readonly #turn: StoredTurn

  constructor(own: EventWriter, turn: StoredTurn) {
    this.#own = own
    this.#turn = turn
  }

  get pendingWrite(): Promise<void> | undefined {
    return this.#turn.pendingWrite
  }

  keepAlive(): string {
    return this.#own.keepAlive()
  }

  write(chunk: string): string {
    return this.#record(this.#own.write(chunk))
  }

  follow(frames: string): string {
    return this.#record(this.#own.follow?.(frames) ?? frames)
  }

  end(): string {
    return this.#record(this.#own.end())
  }

  fail(error: ApiError, requestId: string): string {
    return this.#record(this.#own.fail(error, requestId))
  }

  /** Nearly all frames are deltas, and stay unchanged. */
  #record(frames: string): string {
    if (!frames.includes('"response":{')) return frames
    return frames
      .split(/(?<=\n\n)/)
      .map((frame) => (lifecycle.test(frame) ? this.#recordFrame(frame) : frame))
      .join('')
  }

  #recordFrame(frame: string): string {
    const event: unknown = JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length))
    if (!isObject(event) || !isObject(event['response'])) return frame
    const type = String(event['type'])
    const response = this.#turn.addStorageFields(event['response'])
    if (isLast(type)) this.#turn.storeIfRequested(response)
    return namedFrame({ ...event, type, response })
  }
}
