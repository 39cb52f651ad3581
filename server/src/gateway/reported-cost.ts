import type { ApiError } from '../errors'
import type { EventWriter } from '../wire/event-writer'
import { isObject, type JsonObject, type ReadBody } from '../wire/json-body'
import { toUsd } from '../wire/usd'

/** A request without the field by which its client asks for its cost. */
interface CostRequest {
  readBody: ReadBody
  wantsCost: boolean
}

/**
 * Takes `usage: {"include": true}` out of a request: OpenRouter's clients ask by it for `usage.cost`, and no provider
 * gets it. A stream of the OpenAI format has its usage then, even where `stream_options` do not ask for it. Source:
 * contract 4.2.
 */
export function takeCostRequest(requestBody: ReadBody, isTranslated: boolean): CostRequest {
  if (!('usage' in requestBody.body)) return { readBody: requestBody, wantsCost: false }
  const { usage, ...body } = requestBody.body
  const wantsCost = isObject(usage) && usage['include'] === true
  const needsUsage = wantsCost && !isTranslated && body['stream'] === true
  return {
    wantsCost,
    readBody: { ...requestBody, body: needsUsage ? withStreamedUsage(body) : body },
  }
}

/** Options of another type stay, and are rejected. */
function withStreamedUsage(body: JsonObject): JsonObject {
  const options = body['stream_options'] ?? {}
  return isObject(options) ? { ...body, stream_options: { ...options, include_usage: true } } : body
}

/** Returns an answer, or the last chunk of one, with the cost of its request in its usage. */
export function withCost<Body extends object>(body: Body, cost: bigint): Body {
  const usage: unknown = Reflect.get(body, 'usage')
  return isObject(usage) ? { ...body, usage: { ...usage, cost: toUsd(cost) } } : body
}

/** Returns an answer with the cost of its request where that asked for it. */
export const withRequestedCost = <Body extends object>(
  body: Body,
  cost: bigint,
  costRequest: Pick<CostRequest, 'wantsCost'> | undefined,
): Body => (costRequest?.wantsCost ? withCost(body, cost) : body)

/** Returns events of the formats of Messages and Responses with the cost in their usage, wherever they have one. */
const withCostInFrames = (frames: string, cost: bigint): string =>
  frames
    .split(/(?<=\n\n)/)
    .map((frame) => (frame.includes('"usage":{') ? withCostInFrame(frame, cost) : frame))
    .join('')

const dataField = 'data: '

function withCostInFrame(frame: string, cost: bigint): string {
  const start = frame.indexOf(dataField) + dataField.length
  const event: unknown = JSON.parse(frame.slice(start))
  if (!isObject(event)) return frame
  const { response } = event
  const costed = isObject(response)
    ? { ...event, response: withCost(response, cost) }
    : withCost(event, cost)
  return `${frame.slice(0, start)}${JSON.stringify(costed)}\n\n`
}

/** Holds the end of a stream, which has its usage, back until the cost is known. */
export interface HeldUsage {
  /** Returns the pieces that can be sent now. */
  hold: (pieces: readonly string[]) => string[]
  /** Returns those that were held, with the cost, once. */
  release: (cost: bigint) => string[]
}

/** Holds the chunk with the usage, the only one without choices. */
export class HeldChunk implements HeldUsage {
  #heldChunk: JsonObject | undefined

  hold(chunks: readonly string[]): string[] {
    return chunks.filter((text) => {
      const chunk: unknown = text.includes('"choices":[]') ? JSON.parse(text) : undefined
      if (!isObject(chunk) || !Array.isArray(chunk['choices']) || chunk['choices'].length > 0)
        return true
      this.#heldChunk = chunk
      return false
    })
  }

  release(cost: bigint): string[] {
    const heldChunk = this.#heldChunk
    this.#heldChunk = undefined
    return heldChunk ? [JSON.stringify(withCost(heldChunk, cost))] : []
  }
}

const lastEvents = /^event: (?:message_delta|response\.(?:completed|incomplete))\n/m

/** The last events carry little behind the first of them; beyond it they go out without the cost. */
const maxHeldLength = 1024 * 1024

/** Holds the last events of a stream that a provider wrote in the client's format. */
export class HeldFrames implements HeldUsage {
  #heldFrames: string[] = []
  /** The length of those behind the first. */
  #length = 0
  #isGivenUp = false

  hold(frames: readonly string[]): string[] {
    const sentFrames = frames.filter((text) => this.#isSent(text))
    if (this.#length <= maxHeldLength) return sentFrames
    this.#isGivenUp = true
    this.#length = 0
    sentFrames.push(...this.#heldFrames)
    this.#heldFrames = []
    return sentFrames
  }

  #isSent(text: string): boolean {
    if (this.#isGivenUp) return true
    if (this.#heldFrames.length > 0) this.#length += text.length
    else if (!lastEvents.test(text)) return true
    this.#heldFrames.push(text)
    return false
  }

  release(cost: bigint): string[] {
    const heldFrames = this.#heldFrames
    this.#heldFrames = []
    return heldFrames.map((frames) => withCostInFrames(frames, cost))
  }
}

/** Writes the events of a translated stream, whose last ones have its usage, with the cost in it. */
export class CostWriter implements EventWriter {
  readonly #writer: EventWriter
  readonly #cost: () => bigint

  constructor(writer: EventWriter, cost: () => bigint) {
    this.#writer = writer
    this.#cost = cost
  }

  get pendingWrite(): Promise<void> | undefined {
    return this.#writer.pendingWrite
  }

  keepAlive(): string {
    return this.#writer.keepAlive()
  }

  write(chunk: string): string {
    return this.#writer.write(chunk)
  }

  follow(frames: string): string | undefined {
    return this.#writer.follow?.(frames)
  }

  end(): string {
    return withCostInFrames(this.#writer.end(), this.#cost())
  }

  fail(error: ApiError, requestId: string): string {
    return this.#writer.fail(error, requestId)
  }
}
