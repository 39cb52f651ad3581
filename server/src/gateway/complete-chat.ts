import { AnswerFacts, type RelayableParams, type RenderOptions } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { getLoweredOutput } from './output-limit'
import type { FullReply } from './request'
import { assertEnoughTime, limitAnswer } from './timeouts'
import { promptUsage, toLossReport } from './unanswered-use'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../providers/openai/whole-answer'
import { ownerOf, reportLoss, type UpstreamAttempt } from '../upstream/attempt'
import { toProviderError } from '../upstream/attempt-failed'
import { CollectedFrames } from '../upstream/collected-frames'
import { Deadline } from '../upstream/deadline'
import type { Loss } from '../upstream/classify-loss'
import { exchange, type AnswerReader } from '../upstream/exchange'
import type { ChatProtocol } from '../upstream/protocol/protocol'
import { AnswerTooLong, type Answer } from '../upstream/http/answer'
import { withSecondTry } from '../upstream/second-try'
import { readAsStream, startStream } from '../upstream/start-stream'
import type { UpstreamStream } from '../upstream/stream'
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

/** An attempt at a whole chat completion: one object, as each request makes one. */
class ChatAttempt implements UpstreamAttempt, AnswerReader<ChatReply> {
  readonly attempt: RequestAttempt<RelayableParams>
  readonly protocol: ChatProtocol
  readonly completion: ChatCompletion

  constructor(
    attempt: RequestAttempt<RelayableParams>,
    protocol: ChatProtocol,
    completion: ChatCompletion,
  ) {
    this.attempt = attempt
    this.protocol = protocol
    this.completion = completion
  }

  get candidate(): UpstreamAttempt['candidate'] {
    return this.attempt.candidate
  }

  get request(): UpstreamAttempt['request'] {
    return this.attempt.request
  }

  get deadline(): Deadline {
    return this.completion.deadline
  }

  onLost(loss: Loss, bytes: number): void {
    const { sentBody = this.attempt.body } = this.completion
    toLossReport(this.attempt, (answerBytes) => promptUsage(sentBody, answerBytes))(loss, bytes)
  }

  read(answer: unknown): ChatReply {
    return readReply(answer, this)
  }

  readStream(answer: Answer): Promise<ChatReply> {
    return collectStream(this, answer)
  }
}

/** Makes one attempt at a whole chat completion. Throws `AttemptFailed`, and errors that are no failed attempt. */
export function completeChat(
  attempt: RequestAttempt<RelayableParams>,
  protocol: ChatProtocol,
  completion: ChatCompletion,
): Promise<ChatReply> {
  assertEnoughTime(attempt, 'whole')
  limitAnswer(completion.deadline, attempt)
  const chat = new ChatAttempt(attempt, protocol, completion)
  return protocol.streamsOnly ? collectStream(chat) : exchange(chat, chat)
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
  omittedFields: omitted,
  outputLimit: getLoweredOutput(attempt),
})

/** Collects the stream of a provider that only streams, or of `firstAnswer`, which came though none was requested. */
const collectStream = (chat: ChatAttempt, firstAnswer?: Answer): Promise<ChatReply> =>
  withSecondTry(chat.protocol, (isSecond) => collect(chat, isSecond ? undefined : firstAnswer))

async function collect(chat: ChatAttempt, answer?: Answer): Promise<ChatReply> {
  const { attempt, protocol, completion } = chat
  const { identity } = completion
  const rendering = { identity, wantsUsage: true, legacyFunctions: false }
  const stream = protocol.stream(new AnswerFacts(attempt, protocol, rendering))
  // A stream ends its deadline; the request's own may have further prompts to watch.
  using deadline = new Deadline({ totalMs: completion.deadline.remainingMs })
  if (answer) deadline.addEventListener('abort', { handleEvent: () => answer.cancel() })
  using _ending = deadline.endWith(completion.deadline)
  const { candidate, request } = chat
  const onLost = (loss: Loss, bytes: number) => chat.onLost(loss, bytes)
  const streaming = { candidate, request, protocol, deadline, onLost }
  const upstreamStream = await (answer
    ? readAsStream(streaming, stream, answer)
    : startStream(streaming, stream))
  const { collect: toWhole } = protocol
  if (toWhole) {
    const body = await collectFrames(upstreamStream, { chat, stream }, toWhole)
    return toReply({ body, usage: stream.usage() }, attempt, protocol)
  }
  const collectedChat = new CollectedChat()
  await readAll(upstreamStream, { attempt, stream }, (text) => addChunk(collectedChat, text))
  return { ...readReply(collectedChat.complete(), chat), usage: stream.usage() }
}

/** Reads a stream to its end. All that came until it broke counts as used. */
async function readAll(
  upstreamStream: UpstreamStream,
  { attempt, stream }: { attempt: RequestAttempt<RelayableParams>; stream: RelayedStream },
  add: (text: string) => void,
): Promise<void> {
  try {
    for (let texts = await upstreamStream.read(); texts; texts = await upstreamStream.read()) {
      for (const text of texts) add(text)
    }
  } catch (thrown) {
    reportLoss({ onLost: toLossReport(attempt, () => stream.usage()) }, thrown)
    throw thrown
  }
}

function addChunk(collectedChat: CollectedChat, text: string): void {
  const chunk: unknown = JSON.parse(text)
  if (isObject(chunk)) collectedChat.add(chunk)
}

/**
 * Reads the frames of a stream in the caller's format to the whole answer. Throws `provider_error` where they are too
 * long, and `gateway_unavailable` where memory for them is missing.
 */
async function collectFrames(
  upstreamStream: UpstreamStream,
  { chat, stream }: { chat: ChatAttempt; stream: RelayedStream },
  toWhole: (frames: readonly string[]) => JsonObject,
): Promise<JsonObject> {
  const { attempt, protocol } = chat
  using collectedFrames = new CollectedFrames(attempt.request.ports.largeEvents, ownerOf(chat))
  try {
    await readAll(upstreamStream, { attempt, stream }, (frame) => collectedFrames.add(frame))
  } catch (thrown) {
    upstreamStream.cancel(new Error('the frames are not read on', { cause: thrown }))
    throw thrown instanceof AnswerTooLong ? toProviderError(thrown, protocol.source) : thrown
  }
  return toWhole(collectedFrames.frames)
}
