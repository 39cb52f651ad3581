import type { Turn } from './job'
import { relayRequestOf, type Prepared, type Relayable, type RelayOf } from './relay'
import { chatStreamOf } from './upstream-chat'
import { relayChat, type WholeAnswer } from '../providers/openai/whole-answer'
import { exchange, type Attempt } from '../routing/attempt'
import { Deadline } from '../routing/deadline'
import { UpstreamStream } from '../routing/upstream-stream'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

interface WholeChat extends RelayOf {
  prepared: Prepared
  deadline: Deadline
}

/** One attempt at a whole chat completion. Throws `AttemptFailed`, and what is no answer. */
export async function wholeChat(turn: Turn<Relayable>, chat: WholeChat): Promise<WholeAnswer> {
  const { prepared, deadline } = chat
  const { candidate, model } = turn
  const { egress, credentials } = turn.ports
  const { hops } = turn.call
  const attempt: Attempt = { ...prepared, candidate, deadline, egress, credentials, hops }
  if (prepared.own) {
    const { body } = await exchange(attempt)
    return { ...prepared.own.whole(body, relayRequestOf(turn, chat)), isTold: true }
  }
  // A translated provider is always asked to stream.
  if (prepared.adapter) return collect(turn, chat, attempt)
  const { streamOnlyModels, streamUsage } = candidate.provider.options
  if (streamOnlyModels.some((prefix) => model.upstreamModel.startsWith(prefix))) {
    const body: JsonObject = { ...prepared.body, stream: true }
    if (streamUsage) body['stream_options'] = { include_usage: true }
    return collect(turn, chat, { ...attempt, body })
  }
  const { body } = await exchange(attempt)
  return relayChat(body, relayRequestOf(turn, chat))
}

/** For what only streams: its stream is collected. */
async function collect(
  turn: Turn<Relayable>,
  chat: WholeChat,
  attempt: Attempt,
): Promise<WholeAnswer> {
  const relay = relayRequestOf(turn, chat)
  const reading = { ...relay, wantsUsage: true, legacyFunctions: false }
  const stream = chatStreamOf(chat.prepared, reading)
  // A stream ends its deadline; the request's own may have further prompts to watch.
  const deadline = new Deadline({ totalMs: turn.ports.timers.requestMs })
  const stop = () => deadline.cancel(reasonOf(chat.deadline.signal))
  chat.deadline.signal.addEventListener('abort', stop, { once: true })
  try {
    const opened = await UpstreamStream.open({ ...attempt, deadline }, stream)
    const collected = new CollectedChat()
    for (let texts = await opened.read(); texts; texts = await opened.read()) {
      for (const text of texts) {
        const chunk: unknown = JSON.parse(text)
        if (isObject(chunk)) collected.add(chunk)
      }
    }
    return { ...relayChat(collected.whole(), relay), usage: stream.usage() }
  } finally {
    chat.deadline.signal.removeEventListener('abort', stop)
    deadline[Symbol.dispose]()
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the request was ended', { cause: reason })
