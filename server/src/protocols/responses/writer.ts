import type { StreamEvent } from './event'
import { Output, type OutputOptions } from './output'
import { encryptedThoughts, type ResponsesRequest } from './request'
import { endOf, toResponse, type Head, type Progress } from './response'
import type { CallerTool } from './tool-kinds'
import { toFailure } from './error-format'
import type { ApiError } from '../../errors'
import { bareAnswerId, type Identity } from '../../wire/answer'
import { toChunkParts, toCompletionParts } from '../../wire/chunk-parts'
import type { EventWriter } from '../../wire/event-writer'
import type { FinishReason } from '../../wire/finish-reason'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { namedFrame, pingFrame } from '../../wire/sse'
import type { Usage } from '../../wire/usage'

/** A request as far as its answer repeats it, and its tools by the functions that stand for them. */
export interface ResponseRequest {
  request: ResponsesRequest
  tools: ReadonlyMap<string, CallerTool>
  /** Its answer is stored, with the thoughts that the next request needs. */
  keepsThoughts: boolean
}

const optionsOf = (
  { request, tools, keepsThoughts }: ResponseRequest,
  bareId: string,
): OutputOptions => ({
  bareId,
  tools,
  includesThoughts: keepsThoughts || (request.include?.includes(encryptedThoughts) ?? false),
})

/** One answer as it grows: whole answers and streams are both made by it. */
class Answer {
  readonly #request: ResponsesRequest
  #head: Head
  readonly #output: Output
  #reason: FinishReason = 'stop'
  #usage: Usage | undefined

  constructor(echoed: ResponseRequest, head: Head, bareId: string) {
    this.#request = echoed.request
    this.#head = head
    this.#output = new Output(optionsOf(echoed, bareId))
  }

  /** Sets the model that serves, which may differ from the first candidate of a collection. */
  setModel(model: unknown): void {
    if (typeof model === 'string') this.#head = { ...this.#head, model }
  }

  /** Takes the head that the provider gave first. */
  setHead({ id, model }: JsonObject): void {
    const { created } = this.#head
    this.#head = { id: String(id), created, model: String(model) }
  }

  add(part: Part): StreamEvent[] {
    if (part.type === 'finish') this.#reason = part.reason
    if (part.type === 'usage') this.#usage = part.usage
    return this.#output.add(part)
  }

  begin(): StreamEvent[] {
    const response = this.#response({ status: 'in_progress', output: [] })
    return [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]
  }

  finish(): { events: StreamEvent[]; response: JsonObject } {
    const end = endOf(this.#reason)
    const events = this.#output.finish(end.status)
    const output = this.#output.items()
    const completedAt = Math.floor(Date.now() / 1000)
    const progress = { ...end, output, usage: this.#usage }
    const isCompleted = end.status === 'completed'
    const response = this.#response(isCompleted ? { ...progress, completedAt } : progress)
    events.push({ type: `response.${end.status}`, response })
    return { events, response }
  }

  fail(error: JsonObject): StreamEvent {
    const output = this.#output.items()
    const progress = { status: 'failed', output, error, usage: this.#usage } as const
    return { type: 'response.failed', response: this.#response(progress) }
  }

  #response(progress: Progress): JsonObject {
    return toResponse(this.#request, this.#head, progress)
  }
}

/** The events of one Response, numbered from 0. Source: contract 5.2. */
export class ResponseWriter implements EventWriter {
  readonly #answer: Answer
  #sequence = 0
  /** The first of a provider's own frames. */
  #first: string | undefined
  #last: string | undefined
  /** Events that were put between those of the provider, whose numbers they moved. */
  #inserted = 0

  constructor(request: ResponseRequest, { id, created, model }: Identity) {
    const bareId = bareAnswerId(id)
    this.#answer = new Answer(request, { id: `resp_${bareId}`, created, model }, bareId)
  }

  /**
   * Returns OpenAI's own event: Codex counts events, not comments. Before the Response has begun a comment: the
   * first event of a stream is `response.created` for all clients.
   */
  keepAlive(): string {
    if (this.#last === undefined) return this.#sequence === 0 ? pingFrame : this.#number(keepAlive)
    const number = eventIn(this.#last)['sequence_number']
    if (typeof number !== 'number') return namedFrame(keepAlive)
    this.#inserted += 1
    this.#last = namedFrame({ ...keepAlive, sequence_number: number + 1 })
    return this.#last
  }

  write(chunk: string): string {
    const read: unknown = JSON.parse(chunk)
    const parts = isObject(read) ? toChunkParts(read) : []
    if (this.#sequence === 0 && isObject(read)) this.#answer.setModel(read['model'])
    return this.#begin() + this.#frames(parts.flatMap((part) => this.#answer.add(part)))
  }

  /**
   * Takes the last state from frames of a provider's own that went out, so that later events continue from
   * it, and returns those whose number has to follow an inserted event. Reads only the first and the last of them,
   * and only where that is needed.
   */
  follow(frame: string): string | undefined {
    const moved = this.#inserted > 0 ? withMovedNumber(frame, this.#inserted) : undefined
    this.#first ??= frame
    this.#last = moved ?? frame
    return moved
  }

  end(): string {
    return this.#begin() + this.#frames(this.#answer.finish().events)
  }

  /** Leaves open items open: no client takes half a call for a whole one. */
  fail(error: ApiError, requestId: string): string {
    this.#continueOriginal()
    return this.#begin() + this.#frames([this.#answer.fail(toFailure(error, requestId))])
  }

  #continueOriginal(): void {
    const response = eventIn(this.#first)['response']
    if (isObject(response)) this.#answer.setHead(response)
    const last = eventIn(this.#last)['sequence_number']
    if (typeof last === 'number') this.#sequence = last + 1
  }

  #begin(): string {
    return this.#sequence === 0 ? this.#frames(this.#answer.begin()) : ''
  }

  #frames(events: readonly StreamEvent[]): string {
    let text = ''
    for (const event of events) text += this.#number(event)
    return text
  }

  #number({ type, ...rest }: JsonObject & { type: string }): string {
    const frame = namedFrame({ type, sequence_number: this.#sequence, ...rest })
    this.#sequence += 1
    return frame
  }
}

const keepAlive = { type: 'keepalive' }

/** Returns a provider's frame with another number, and otherwise as it came. */
function withMovedNumber(frame: string, by: number): string {
  const number = eventIn(frame)['sequence_number']
  if (typeof number !== 'number') return frame
  // Inside a text the quotes are escaped; a field of that name deeper in the event has another number.
  const field = new RegExp(String.raw`(?<!\\)("sequence_number"\s*:\s*)${number}(?!\d)`)
  return frame.replace(field, (_found, name: string) => `${name}${number + by}`)
}

/** The event of the last of these frames. */
function eventIn(frames: string | undefined): JsonObject {
  const data = frames?.slice(frames.lastIndexOf('data: ') + 'data: '.length)
  try {
    const event: unknown = JSON.parse(data ?? '')
    return isObject(event) ? event : {}
  } catch {
    return {}
  }
}

/** The whole Response for a whole chat completion. */
export function toCompleteResponse(request: ResponseRequest, completion: JsonObject): JsonObject {
  const bareId = bareAnswerId(completion['id'])
  const created = Number(completion['created'])
  const model = String(completion['model'])
  const answer = new Answer(request, { id: `resp_${bareId}`, created, model }, bareId)
  for (const part of toCompletionParts(completion)) answer.add(part)
  return answer.finish().response
}
