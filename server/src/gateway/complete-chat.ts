import type { RequestAttempt, WholeReply } from './request'
import { getLoweredOutput } from './output-limit'
import {
  lostBy,
  promptUsage,
  Relay,
  type Prepared,
  type Relayable,
  type RenderOptions,
} from './relay'
import { createChatStream } from './upstream-chat'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { relayChat, type WholeAnswer } from '../providers/openai/whole-answer'
import { tellLoss, type Attempt } from '../upstream/attempt'
import { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
import { UpstreamStream } from '../upstream/stream'
import { CollectedChat } from '../wire/collected-chat'
import { withCustomCalls } from '../wire/custom-calls'
import { isObject, type JsonObject } from '../wire/json-body'

/** A whole chat completion that a client waits for, and its deadline. */
export interface Awaited extends RenderOptions {
  deadline: Deadline
  /** The part of the attempt's body to send, where that is not all of it. */
  asked?(turn: RequestAttempt<Relayable>): JsonObject
}

interface ChatAttempt extends Attempt {
  turn: RequestAttempt<Relayable>
  sent: Prepared
  telling: RenderOptions
}

export interface ChatReply extends WholeReply {
  body: JsonObject
}

/** Makes one attempt at a whole chat completion. Throws `AttemptFailed`, and errors that are no failed attempt. */
export function completeChat(
  turn: RequestAttempt<Relayable>,
  sent: Prepared,
  awaited: Awaited,
): Promise<ChatReply> {
  const { deadline } = awaited
  const onLost = lostBy(turn, (bytes) => promptUsage(awaited.asked?.(turn) ?? turn.body, bytes))
  const attempt: ChatAttempt = { turn, sent, telling: awaited, deadline, onLost }
  if (sent.own) return exchange(attempt, passedBack)
  // Requests to a translated provider always stream.
  if (sent.adapter) return collect(attempt)
  const { streamOnlyModels, streamUsage } = turn.candidate.provider.options
  if (streamOnlyModels.length === 0 || !isOneOf(streamOnlyModels, turn)) {
    return exchange(attempt, relayed)
  }
  const body: JsonObject = { ...sent.body, stream: true }
  if (streamUsage) body['stream_options'] = { include_usage: true }
  return collect({ ...attempt, sent: { ...sent, body } })
}

const isOneOf = (prefixes: readonly string[], { model }: RequestAttempt<unknown>): boolean =>
  prefixes.some((prefix) => model.upstreamModel.startsWith(prefix))

const relayOf = ({ turn, sent, telling }: ChatAttempt) => new Relay(turn, sent, telling)

const replyOf = ({ body, usage }: WholeAnswer, { turn, sent }: ChatAttempt): ChatReply => ({
  kind: 'whole',
  body,
  usage,
  provider: turn.candidate.provider.key,
  omitted: sent.omitted,
  outputLimit: getLoweredOutput(turn),
})

function relayed(answer: unknown, attempt: ChatAttempt): ChatReply {
  const whole = relayChat(answer, relayOf(attempt))
  const { customTools } = attempt.sent
  const body = customTools ? withCustomCalls(whole.body, customTools) : whole.body
  return replyOf({ ...whole, body }, attempt)
}

function passedBack(answer: unknown, attempt: ChatAttempt): ChatReply {
  const { own } = attempt.sent
  if (!own) return relayed(answer, attempt)
  return { ...replyOf(own.whole(answer, relayOf(attempt)), attempt), isTold: true }
}

/** Reads a stream to its end. All that came until it broke counts as used. */
async function readAll(
  opened: UpstreamStream,
  { turn }: ChatAttempt,
  stream: RelayedStream,
): Promise<CollectedChat> {
  const collected = new CollectedChat()
  try {
    for (let texts = await opened.read(); texts; texts = await opened.read()) {
      for (const text of texts) {
        const chunk: unknown = JSON.parse(text)
        if (isObject(chunk)) collected.add(chunk)
      }
    }
  } catch (thrown) {
    const onLost = lostBy(turn, () => stream.usage())
    tellLoss({ onLost }, thrown)
    throw thrown
  }
  return collected
}

/** Collects the stream of a provider that only streams. */
async function collect(attempt: ChatAttempt): Promise<ChatReply> {
  const { turn, sent, telling } = attempt
  const { identity } = telling
  const reading = { identity, wantsUsage: true, legacyFunctions: false }
  const stream = createChatStream(sent, new Relay(turn, sent, reading))
  // A stream ends its deadline; the request's own may have further prompts to watch.
  const deadline = new Deadline({ totalMs: turn.checked.ports.timers.requestMs })
  const { signal } = attempt.deadline
  const stop = () => deadline.cancel(reasonOf(signal))
  signal.addEventListener('abort', stop, { once: true })
  try {
    const opened = await UpstreamStream.open({ ...attempt, deadline }, stream)
    const collected = await readAll(opened, attempt, stream)
    return { ...relayed(collected.whole(), attempt), usage: stream.usage() }
  } finally {
    signal.removeEventListener('abort', stop)
    deadline[Symbol.dispose]()
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the request was ended', { cause: reason })
