import { invalidAnswer, type ErrorSource } from '../upstream-error'
import type { Identity } from '../../wire/answer'
import { processingMsIn, type AnswerUnits } from '../../wire/answer-units'
import { isObject, type JsonObject } from '../../wire/json-body'
import { TextSize } from '../../wire/text-size'
import { toPlainUsageBlock } from '../../wire/hidden-cache'
import { completionTokens, readUsage, toRelayedUsageBlock, type Usage } from '../../wire/usage'
import {
  findMissing,
  maxUsage,
  readRequestFee,
  withBoundedOutput,
  withEstimated,
} from '../../wire/usage-claims'
import type { CallNaming } from '../../wire/outgoing-calls'
import type { RelayOptions } from '../provider'

/** The facts about its request that a relayed answer needs. */
export interface RelayRequest extends CallNaming {
  identity: Identity
  source: ErrorSource
  options: RelayOptions
  /** The caller wants the usage chunk. */
  wantsUsage: boolean
  /** The caller sent `functions`, the older form of tools, and gets the older answer. */
  legacyFunctions: boolean
  /** The number of requested choices; one where absent. */
  answers?: number
  /** The requested maximum of output tokens. */
  outputLimit?: number | undefined
  /** Counts the request and the answer, for a provider that does not. */
  estimate: (output: TextSize) => Usage
  /**
   * The tokens of output that a provider may count beyond what its answer shows: thinking, where that is
   * plausible. A count beyond these is not believed.
   */
  hiddenTokens: (usage: Usage) => number
  /** The caller does not see what came from a prompt cache. */
  hidesCachedTokens?: boolean
  /** The caller's own request, whose identifiers the provider got under other names. */
  namedByCaller?: JsonObject | undefined
  /** Units of the answer that are counted and measured beside its tokens; undefined for none. */
  units?: AnswerUnits | undefined
}

/** A usage with the characters of its answer, and the time that its provider reported, where they are charged. */
export function withUnits(
  usage: Usage,
  { units }: Pick<RelayRequest, 'units'>,
  answer: { size: () => TextSize; processingMs?: number | undefined },
): Usage {
  if (!units) return usage
  const { processingMs } = answer
  return {
    ...usage,
    ...(units.characters && { outputCharacters: answer.size().characters }),
    ...(units.seconds && processingMs !== undefined && { processingMs }),
  }
}

/** Limits a provider's count of an answer to the maximum that its visible content allows. */
export const withinVisible = (
  usage: Usage,
  content: Pick<TextSize, 'maxTokens'>,
  request: Pick<RelayRequest, 'hiddenTokens'>,
): Usage => withBoundedOutput(usage, content.maxTokens + request.hiddenTokens(usage))

/** A relayed stream: `next` per event, then `end`; `usage` when it has ended, however it did. */
export interface RelayedStream {
  /** The chunks to send for an event's `data`. Throws for an error, and for data that is no chunk. */
  next(data: string): string[]
  /** The last chunks. Throws when the stream was cut. `sawDone`: it ended in `[DONE]`. */
  end(sawDone: boolean): string[]
  usage(): Usage
  /** Text, thoughts, calls or other content came, and not only the opening of an answer. */
  hasContent(): boolean
  /** All content and counts arrived: a connection that breaks now takes nothing of the answer away. */
  isComplete?(): boolean
  /** Output arrived: more than the opening of an answer that carries nothing. */
  readonly hasOutput: boolean
  /** All content arrived: counts may follow, and the mark of the end, or neither. */
  readonly isFinished?: boolean
  /** Set by dialects that mark their end otherwise than by `[DONE]`. */
  readonly isOver?: boolean
  /** Tokens of output that were written so far, at least. A stream without this count is never cut. */
  tokensAtLeast?(): number
  /**
   * Ends an answer that is not paid for any further, with `length`: its last chunks. The estimate of it is
   * `most` tokens of output at most.
   */
  cut?(maxTokens: number): string[]
}

/** Keeps the usage that a stream reports; it may come on any chunk, and the largest counts. */
export class StreamUsage {
  readonly size: TextSize
  readonly #request: RelayRequest
  #processingMs: number | undefined
  #usage: Usage | undefined
  /** The usage before the last chunk that counted. */
  #usageBefore: Usage | undefined
  #servedTier: string | undefined
  #requestFee: bigint | undefined
  #block: unknown

  constructor(request: RelayRequest) {
    this.#request = request
    this.size = new TextSize(request.units)
  }

  /** The provider has counted. */
  get isKnown(): boolean {
    return this.#usage !== undefined
  }

  record(chunk: JsonObject): void {
    const groq = isObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined
    const block = chunk['usage'] ?? groq
    const read = readUsage(block, this.#request.options.reasoningTokens)
    if (typeof chunk['service_tier'] === 'string') this.#servedTier = chunk['service_tier']
    if (this.#request.options.statesRequestFee)
      this.#requestFee = readRequestFee(block) ?? this.#requestFee
    if (this.#request.units?.seconds)
      this.#processingMs = processingMsIn(chunk) ?? this.#processingMs
    this.#usageBefore = this.#usage
    if (!read) return
    this.#usage = this.#usage ? maxUsage(this.#usage, read) : read
    this.#block = block
  }

  /** The chunk that was recorded last reports a failure: a count in it is not charged. */
  dropLast(): void {
    this.#usage = this.#usageBefore
  }

  /**
   * The usage so far: the provider's count, as far as its content allows, else an estimate of the content.
   */
  total(): Usage {
    const usage = this.#count()
    const { size } = this
    const answer = { size: () => size, processingMs: this.#processingMs }
    const measured = this.#request.units ? withUnits(usage, this.#request, answer) : usage
    const servedTier = this.#servedTier
    const requestFee = this.#requestFee
    if (servedTier === undefined && requestFee === undefined) return measured
    return { ...measured, servedTier, requestFee }
  }

  #count(): Usage {
    const reported = this.#usage
    if (!reported) return this.#request.estimate(this.size)
    const usage = withinVisible(reported, this.size, this.#request)
    const missingSides = findMissing(usage, this.#block)
    return missingSides
      ? withEstimated(usage, missingSides, this.#request.estimate(this.size))
      : usage
  }

  /** Nothing more is relayed: of an estimate, no more than `most` tokens of output count. */
  cut(maxTokens: number): string[] {
    const usage = this.total()
    this.#usage = usage.estimated ? { ...usage, output: Math.min(usage.output, maxTokens) } : usage
    return this.chunks()
  }

  /** The finish reason of an answer whose provider gave none: it may have reached the requested maximum. */
  get unstatedReason(): 'stop' | 'length' {
    const { outputLimit = Infinity } = this.#request
    return completionTokens(this.total()) >= outputLimit ? 'length' : 'stop'
  }

  /** The usage chunk, for a caller who wants it. */
  chunks(): string[] {
    if (!this.#request.wantsUsage) return []
    const { hidesCachedTokens } = this.#request
    const total = this.total()
    const usage = hidesCachedTokens
      ? toPlainUsageBlock(total)
      : toRelayedUsageBlock(total, this.#block)
    return [JSON.stringify({ ...this.#request.identity, choices: [], usage })]
  }
}

/** The choices of a chunk. Throws when they are none. */
export function readChoices(chunk: JsonObject, source: ErrorSource): JsonObject[] {
  const choices = chunk['choices'] ?? []
  if (Array.isArray(choices) && choices.every(isObject)) return choices
  throw invalidAnswer(source.provider, 'a chunk with unreadable choices')
}

/** The most choices that a request can have without several prompts: OpenAI's largest `n`. */
const maxChoices = 128

/**
 * Throws where a provider opens more choices than a request can have: each is remembered until the answer ends.
 * `opened`: how many there are.
 */
export function limitChoices(opened: number, { answers = 1, source }: RelayRequest): void {
  if (opened > Math.max(maxChoices, answers))
    throw invalidAnswer(source.provider, 'too many choices')
}

/** A copy without some fields. */
export function without(source: JsonObject, names: ReadonlySet<string>): JsonObject {
  const rest: JsonObject = {}
  for (const name in source) if (!names.has(name)) rest[name] = source[name]
  return rest
}
