import { AnswerFacts, type RelayableParams, type RenderOptions } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { getLoweredOutput } from './output-limit'
import type { FullReply } from './request'
import { promptUsage, toLossReport } from './unanswered-use'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../providers/openai/whole-answer'
import { reportLoss, type UpstreamAttempt } from '../upstream/attempt'
import { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
import type { ChatProtocol } from '../upstream/protocol'
import { UpstreamStream } from '../upstream/stream'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

/** A whole chat completion that a client waits for, and its deadline. */
export interface ChatCompletion extends RenderOptions {
  deadline: Deadline
  /** The part of the attempt's body to send, where that is not all of it. */
  sentBody?: JsonObject
}

export interface ChatReply extends FullReply {
  body: JsonObject
}

/** An attempt at a whole chat completion. */
interface ChatAttempt {
  attempt: RequestAttempt<RelayableParams>
  protocol: ChatProtocol
  completion: ChatCompletion
}

/** Makes one attempt at a whole chat completion. Throws `AttemptFailed`, and errors that are no failed attempt. */
export function completeChat(
  attempt: RequestAttempt<RelayableParams>,
  protocol: ChatProtocol,
  completion: ChatCompletion,
): Promise<ChatReply> {
  const { candidate, request } = attempt
  const { deadline, sentBody = attempt.body } = completion
  const onLost = toLossReport(attempt, (bytes) => promptUsage(sentBody, bytes))
  const upstream = { candidate, request, protocol, deadline, onLost }
  const chat = { attempt, protocol, completion }
  if (protocol.streamsOnly) return collect(upstream, chat)
  return exchange(upstream, (answer) => readReply(answer, chat))
}

function readReply(answer: unknown, { attempt, protocol, completion }: ChatAttempt): ChatReply {
  const facts = new AnswerFacts(attempt, protocol, completion)
  return toReply(protocol.complete(answer, facts), attempt, protocol)
}

const toReply = (
  { body, usage }: CompleteAnswer,
  attempt: RequestAttempt<RelayableParams>,
  { isEncoded, omitted }: ChatProtocol,
): ChatReply => ({
  kind: 'full',
  body,
  isEncoded,
  usage,
  provider: attempt.candidate.provider.key,
  omitted,
  outputLimit: getLoweredOutput(attempt),
})

/** Collects the stream of a provider that only streams. */
async function collect(upstream: UpstreamAttempt, chat: ChatAttempt): Promise<ChatReply> {
  const { attempt, protocol, completion } = chat
  const { identity } = completion
  const rendering = { identity, wantsUsage: true, legacyFunctions: false }
  const stream = protocol.stream(new AnswerFacts(attempt, protocol, rendering))
  // A stream ends its deadline; the request's own may have further prompts to watch.
  const deadline = new Deadline({ totalMs: attempt.request.ports.timers.requestMs })
  const { signal } = completion.deadline
  const stop = () => deadline.cancel(reasonOf(signal))
  signal.addEventListener('abort', stop, { once: true })
  try {
    const opened = await UpstreamStream.open({ ...upstream, deadline }, stream)
    const collected = await readAll(opened, attempt, stream)
    return { ...readReply(collected.complete(), chat), usage: stream.usage() }
  } finally {
    signal.removeEventListener('abort', stop)
    deadline[Symbol.dispose]()
  }
}

/** Reads a stream to its end. All that came until it broke counts as used. */
async function readAll(
  opened: UpstreamStream,
  attempt: RequestAttempt<RelayableParams>,
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
    reportLoss({ onLost: toLossReport(attempt, () => stream.usage()) }, thrown)
    throw thrown
  }
  return collected
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the request was ended', { cause: reason })
