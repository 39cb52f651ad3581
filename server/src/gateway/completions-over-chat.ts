import { AnswerFacts, identityOf } from './answer-facts'
import type { RequestAttempt, ValidatedRequest } from './attempt'
import { chooseProtocol, type ChatForm } from './choose-protocol'
import { completeChat, type ChatReply } from './complete-chat'
import type { EndpointRun } from './endpoint'
import { openStream } from './open-stream'
import type { DetachedStream, OpenStream, Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { invalidRequest } from '../errors'
import { boundCompletion } from '../metering/volume'
import { readOutputLimit } from '../providers/openai/request'
import { hidesCachedTokens } from '../shared-credentials/credential'
import type { ChunkStream } from '../wire/chunk-stream'
import type { CompletionRequest } from '../wire/completion-request'
import { isObject, type JsonObject } from '../wire/json-body'
import {
  readPromptTexts,
  toChatBody,
  toTextChoice,
  toTextChunk,
  wantsEchoOnly,
} from '../wire/text-over-chat'
import { toPlainUsageBlock } from '../wire/hidden-cache'
import { addUsage } from '../wire/add-usage'
import { toUsageBlock, type Usage } from '../wire/usage'

/** The number of prompts that a chat model gets at the same time. */
const maxConcurrentPrompts = 4

interface PromptReply extends ChatReply {
  model: string
  attempt: RequestAttempt<CompletionRequest>
}

/** Returns the answers. Throws the first failure; the use of the others is to be paid then. */
function collectAnswers(
  batch: readonly PromiseSettledResult<PromptReply>[],
  before: readonly PromptReply[],
): PromptReply[] {
  const answers = batch.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failure = batch.find(({ status }) => status === 'rejected')
  if (failure?.status !== 'rejected') return answers
  for (const { attempt, usage } of [...before, ...answers])
    attempt.unansweredUse.recordAnswer(usage)
  throw failure.reason
}

/** Answers a legacy completion by a model that only chats: each prompt becomes a conversation. */
export async function completeOverChat(failover: EndpointRun<CompletionRequest>): Promise<Reply> {
  const { request } = failover
  using deadline = createFailoverDeadline(failover)
  const prompts = readChatPrompts(request)
  const identity = identityOf(request, 'text_completion')
  const completion = { identity, legacyFunctions: false, deadline }
  const answers: PromptReply[] = []
  for (let start = 0; start < prompts.length; start += maxConcurrentPrompts) {
    const batch = prompts.slice(start, start + maxConcurrentPrompts).map((prompt) =>
      failover.run({
        attempt: async (attempt): Promise<PromptReply> => {
          // The other prompts are no part of this one's request.
          const sentBody = toChatBody(attempt.body, prompt)
          const protocol = chooseProtocol(attempt, sentBody, promptForm)
          const answer = await completeChat(attempt, protocol, { ...completion, sentBody })
          return { ...answer, model: attempt.model.id, attempt }
        },
      }),
    )
    answers.push(...collectAnswers(await Promise.allSettled(batch), answers))
  }
  const { params } = request
  const perPrompt = params.n ?? 1
  const choices = answers.flatMap(({ body }, position) => {
    const promptChoices = Array.isArray(body['choices']) ? body['choices'].filter(isObject) : []
    const before = params.echo ? (prompts[position] ?? '') : ''
    const echo = { before, isAll: wantsEchoOnly(request.body) }
    return promptChoices.map((choice, k) => toTextChoice(choice, position * perPrompt + k, echo))
  })
  const usage = answers.map((answer) => answer.usage).reduce(addUsage)
  const model = answers[0]?.model ?? identity.model
  return {
    kind: 'full',
    body: { ...identity, model, choices, usage: toShownBlock(usage, answers) },
    usage,
    provider: answers[0]?.provider ?? '',
    omittedFields: answers[0]?.omittedFields,
  }
}

/** Returns the `usage` of all prompts, as the caller sees it. */
const toShownBlock = (usage: Usage, answers: readonly PromptReply[]) =>
  answers.some(({ attempt }) => hidesCachedTokens(attempt.candidate))
    ? toPlainUsageBlock(usage)
    : toUsageBlock(usage)

/** Answers as a stream: one prompt after the other. */
export function streamOverChat(failover: EndpointRun<CompletionRequest>): Reply {
  const { request } = failover
  const { params } = request
  const prompts = readChatPrompts(request)
  const identity = identityOf(request, 'text_completion')
  const echoOnly = wantsEchoOnly(request.body)
  let servedIdentity = identity
  let hidesCache = false
  const open = (prompt: string) =>
    openStream(failover, {
      allowance: ({ meter }) => meter.allowance(prompts.length),
      protocol: (attempt) => chooseProtocol(attempt, toChatBody(attempt.body, prompt), promptForm),
      sentBody: (attempt): JsonObject => toChatBody(attempt.body, prompt),
      relay: (attempt, protocol) => {
        const rendering = { identity, legacyFunctions: false, wantsUsage: false }
        const facts = new AnswerFacts(attempt, protocol, rendering)
        servedIdentity = facts.identity
        hidesCache ||= facts.hidesCachedTokens
        return protocol.stream(facts)
      },
    })
  const [first = '', ...rest] = prompts
  const opening = open(first).then((firstStream): OpenStream => {
    const stream = new ConsecutiveStreams(
      firstStream,
      rest.map((prompt) => () => open(prompt)),
      {
        perPrompt: params.n ?? 1,
        echoes: params.echo ? prompts : [],
        write: (chunk, position) => toTextChunk(chunk, servedIdentity, { ...position, echoOnly }),
        usageChunk: (usage) =>
          params.stream_options?.include_usage
            ? [
                JSON.stringify({
                  ...servedIdentity,
                  choices: [],
                  usage: hidesCache ? toPlainUsageBlock(usage) : toUsageBlock(usage),
                }),
              ]
            : [],
      },
    )
    return {
      stream,
      provider: firstStream.provider,
      omittedFields: firstStream.omittedFields,
      usage: () => stream.usage(),
      usageAfter: (failure) => stream.usageAfter(failure),
      detach: () => stream.detach(),
    }
  })
  return { kind: 'stream', identity, opening }
}

interface Rewriting {
  perPrompt: number
  /** The text to put before each prompt's completion, by its number; empty for none. */
  echoes: readonly string[]
  write: (
    chunk: string,
    position: { offset: number; echo: Map<number, string> },
  ) => string | undefined
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
  isEnded = false

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
    while (!this.isEnded) {
      const chunks = await this.#current.stream.read()
      if (chunks) {
        const position = { offset: this.#number * this.#rewriting.perPrompt, echo: this.#echo }
        const writtenChunks = chunks.flatMap(
          (chunk) => this.#rewriting.write(chunk, position) ?? [],
        )
        if (writtenChunks.length > 0) return writtenChunks
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
    this.isEnded = true
    return this.#usage && this.#rewriting.usageChunk(this.#usage)
  }

  /** The use so far. */
  usage(): Usage | undefined {
    return this.#withRunning(this.#isCounted ? undefined : this.#current.usage())
  }

  /** The use where `failure` broke the running stream. */
  usageAfter(failure: unknown): Usage | undefined {
    return this.#withRunning(this.#isCounted ? undefined : this.#current.usageAfter(failure))
  }

  #withRunning(running: Usage | undefined): Usage | undefined {
    return this.#usage && running ? addUsage(this.#usage, running) : (running ?? this.#usage)
  }

  cancel(reason: Error): void {
    this.isEnded = true
    this.#waiting.length = 0
    this.#current.stream.cancel(reason)
  }

  /** The client has disconnected: the prompts that wait are not sent. */
  detach(): DetachedStream {
    this.#waiting.length = 0
    this.isEnded = true
    let detached = this.#isCounted ? undefined : this.#current.detach()
    const detachOpening = async () => {
      detached = (await this.#opening)?.detach()
      await detached?.rest
    }
    // A stream that is still being opened is detached once it has opened.
    const rest = this.#isCounted ? detachOpening().catch(() => undefined) : detached?.rest
    const isFree = detached?.isFree === true && this.#usage === undefined
    return { rest, isFree, [Symbol.dispose]: () => detached?.[Symbol.dispose]() }
  }
}

function readChatPrompts({ params, model }: ValidatedRequest<CompletionRequest>): string[] {
  const texts = readPromptTexts(params.prompt)
  if (texts) return texts
  throw invalidRequest(
    'prompt',
    'unsupported_by_model',
    `"${model.id}" accepts text, not token ids. Send the prompt as a string.`,
  )
}

const promptForm: ChatForm<CompletionRequest> = {
  textField: 'prompt',
  outputLimit: ({ body, model }) => {
    const outputLimit = readOutputLimit(body)?.limit
    return boundCompletion(body, { model, outputLimit }).outputLimit
  },
}
