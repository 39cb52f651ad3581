import type {
  ValidatedRequest,
  RunnableRequest,
  Leave,
  OpenStream,
  Reply,
  RequestAttempt,
} from './request'
import { identityOf, createJobDeadline, openStream, Relay } from './relay'
import { createChatStream, prepareChat, type ChatForm } from './upstream-chat'
import { completeChat, type ChatReply } from './complete-chat'
import { invalidRequest } from '../errors'
import { boundCompletion } from '../metering/volume'
import { readOutputLimit } from '../providers/openai/request'
import type { ChunkStream } from '../wire/chunk-stream'
import type { CompletionRequest } from '../wire/completion-request'
import { isObject } from '../wire/json-body'
import {
  readPromptTexts,
  toChatBody,
  toTextChoice,
  toTextChunk,
  wantsEchoOnly,
} from '../wire/text-over-chat'
import { addUsage, toUsageBlock, type Usage } from '../wire/usage'

/** The number of prompts that a chat model gets at the same time. */
const atOnce = 4

interface PromptReply extends ChatReply {
  model: string
  turn: RequestAttempt<CompletionRequest>
}

/** The answers. Throws the first failure; the use of the others is to be paid then. */
function answered(
  batch: readonly PromiseSettledResult<PromptReply>[],
  before: readonly PromptReply[],
): PromptReply[] {
  const answers = batch.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = batch.find(({ status }) => status === 'rejected')
  if (failed?.status !== 'rejected') return answers
  for (const { turn, usage } of [...before, ...answers]) turn.unanswered.answered(usage)
  throw failed.reason
}

/** Answers a legacy completion by a model that only chats: each prompt becomes a conversation. */
export async function completeOverChat(job: RunnableRequest<CompletionRequest>): Promise<Reply> {
  const { checked } = job
  using deadline = createJobDeadline(job)
  const prompts = chatPrompts(checked)
  const identity = identityOf(checked, 'text_completion')
  const awaited = { identity, legacyFunctions: false, deadline }
  const answers: PromptReply[] = []
  for (let start = 0; start < prompts.length; start += atOnce) {
    const batch = prompts.slice(start, start + atOnce).map((prompt) => {
      // The other prompts are no part of this one's request.
      const asked = (turn: RequestAttempt<CompletionRequest>) => toChatBody(turn.body, prompt)
      return job.ask({
        attempt: async (turn): Promise<PromptReply> => {
          const answer = await completeChat(turn, prepare(turn, prompt), { ...awaited, asked })
          return { ...answer, model: turn.model.id, turn }
        },
      })
    })
    answers.push(...answered(await Promise.allSettled(batch), answers))
  }
  const { request } = checked
  const perPrompt = request.n ?? 1
  const choices = answers.flatMap(({ body }, position) => {
    const theirs = Array.isArray(body['choices']) ? body['choices'].filter(isObject) : []
    const before = request.echo ? (prompts[position] ?? '') : ''
    const echo = { before, isAll: wantsEchoOnly(checked.body) }
    return theirs.map((choice, k) => toTextChoice(choice, position * perPrompt + k, echo))
  })
  const usage = answers.map((answer) => answer.usage).reduce(addUsage)
  const model = answers[0]?.model ?? identity.model
  return {
    kind: 'whole',
    body: { ...identity, model, choices, usage: toUsageBlock(usage) },
    usage,
    provider: answers[0]?.provider ?? '',
  }
}

/** Answers as a stream: one prompt after the other. */
export function streamOverChat(job: RunnableRequest<CompletionRequest>): Reply {
  const { checked } = job
  const { request } = checked
  const prompts = chatPrompts(checked)
  const identity = identityOf(checked, 'text_completion')
  const echoOnly = wantsEchoOnly(checked.body)
  let served = identity
  const open = (prompt: string) =>
    openStream(job, {
      allowance: ({ meter }) => meter.allowance(prompts.length),
      prepare: (turn) => prepare(turn, prompt),
      asked: (turn) => toChatBody(turn.body, prompt),
      relay: (turn, prepared) => {
        const telling = { identity, legacyFunctions: false, wantsUsage: false }
        const relay = new Relay(turn, prepared, telling)
        served = relay.identity
        return createChatStream(prepared, relay)
      },
    })
  const [first = '', ...rest] = prompts
  const opening = open(first).then((opened): OpenStream => {
    const stream = new ConsecutiveStreams(
      opened,
      rest.map((prompt) => () => open(prompt)),
      {
        perPrompt: request.n ?? 1,
        echoes: request.echo ? prompts : [],
        write: (chunk, place) => toTextChunk(chunk, served, { ...place, echoOnly }),
        usageChunk: (usage) =>
          request.stream_options?.include_usage
            ? [JSON.stringify({ ...served, choices: [], usage: toUsageBlock(usage) })]
            : [],
      },
    )
    return {
      stream,
      provider: opened.provider,
      usage: () => stream.usage(),
      leave: () => stream.leave(),
    }
  })
  return { kind: 'stream', identity, opening }
}

interface Rewriting {
  perPrompt: number
  /** The text to put before each prompt's completion, by its number; empty for none. */
  echoes: readonly string[]
  write: (chunk: string, place: { offset: number; echo: Map<number, string> }) => string | undefined
  usageChunk: (usage: Usage) => string[]
}

/** Several streams as one, each opened when the one before has ended. */
class ConsecutiveStreams implements ChunkStream {
  readonly #rewriting: Rewriting
  readonly #waiting: (() => Promise<OpenStream>)[]
  #current: OpenStream
  #number = 0
  #echo = new Map<number, string>()
  /** The use of the streams that have ended. */
  #usage: Usage | undefined
  #isCounted = false
  #opening: Promise<OpenStream> | undefined
  ended = false

  constructor(first: OpenStream, waiting: (() => Promise<OpenStream>)[], rewriting: Rewriting) {
    this.#current = first
    this.#waiting = waiting
    this.#rewriting = rewriting
    this.#begin()
  }

  #begin(): void {
    const { perPrompt, echoes } = this.#rewriting
    const echo = echoes[this.#number]
    if (echo === undefined) return
    for (let k = 0; k < perPrompt; k++) {
      this.#echo.set(this.#number * perPrompt + k, echo)
    }
  }

  async read(): Promise<string[] | undefined> {
    while (!this.ended) {
      const chunks = await this.#current.stream.read()
      if (chunks) {
        const place = { offset: this.#number * this.#rewriting.perPrompt, echo: this.#echo }
        const written = chunks.flatMap((chunk) => this.#rewriting.write(chunk, place) ?? [])
        if (written.length > 0) return written
        continue
      }
      const last = await this.#advance()
      if (last) return last
    }
    return undefined
  }

  /** Moves to the next stream; after the last one, the chunks that end the whole answer. */
  async #advance(): Promise<string[] | undefined> {
    this.#usage = this.usage()
    this.#isCounted = true
    const next = this.#waiting.shift()
    if (next) {
      const opening = next()
      this.#opening = opening
      this.#current = await opening
      this.#isCounted = false
      this.#number += 1
      this.#begin()
      return undefined
    }
    this.ended = true
    return this.#usage && this.#rewriting.usageChunk(this.#usage)
  }

  /** The use so far. */
  usage(): Usage | undefined {
    const running = this.#isCounted ? undefined : this.#current.usage()
    return this.#usage && running ? addUsage(this.#usage, running) : (running ?? this.#usage)
  }

  cancel(reason: Error): void {
    this.ended = true
    this.#waiting.length = 0
    this.#current.stream.cancel(reason)
  }

  /** The client has disconnected: the prompts that wait are not sent. */
  leave(): Leave {
    this.#waiting.length = 0
    this.ended = true
    let left = this.#isCounted ? undefined : this.#current.leave()
    const opened = async () => {
      left = (await this.#opening)?.leave()
      await left?.rest
    }
    // A stream that is still being opened is left once it has opened.
    const rest = this.#isCounted ? opened().catch(() => undefined) : left?.rest
    const isFree = left?.isFree === true && this.#usage === undefined
    return { rest, isFree, [Symbol.dispose]: () => left?.[Symbol.dispose]() }
  }
}

function chatPrompts({ request, model }: ValidatedRequest<CompletionRequest>): string[] {
  const texts = readPromptTexts(request.prompt)
  if (texts) return texts
  throw invalidRequest(
    'prompt',
    'unsupported_by_model',
    `"${model.id}" takes text, not token ids. Send the prompt as a string.`,
  )
}

const form: ChatForm<CompletionRequest> = {
  textField: 'prompt',
  outputLimit: ({ body, model }) => {
    const outputLimit = readOutputLimit(body)?.limit
    return boundCompletion(body, { model, outputLimit }).outputLimit
  },
}

const prepare = (turn: RequestAttempt<CompletionRequest>, prompt: string) =>
  prepareChat(turn, toChatBody(turn.body, prompt), form)
