import type { Job } from './job'
import { relayRequestOf, type Relayable, type RelayOf } from './relay'
import { ChatStream } from '../providers/openai/chat-stream'
import { relayChat, type WholeAnswer } from '../providers/openai/whole-answer'
import { exchange, type Attempt } from '../routing/attempt'
import { Deadline } from '../routing/deadline'
import { UpstreamStream } from '../routing/upstream-stream'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

interface WholeChat extends RelayOf {
  body: JsonObject
  deadline: Deadline
}

/** One attempt at a whole chat completion. Throws `AttemptFailed`, and what is no answer. */
export async function wholeChat(job: Job<Relayable>, chat: WholeChat): Promise<WholeAnswer> {
  const { candidate, source, body, deadline } = chat
  const { egress } = job.ports
  const { hops } = job.call
  const attempt = { candidate, operation: 'chat' as const, body, deadline, source, egress, hops }
  const { upstreamModel } = job.model
  const { streamOnlyModels } = candidate.provider.options
  if (streamOnlyModels.some((prefix) => upstreamModel.startsWith(prefix))) {
    return collect(job, chat, attempt)
  }
  return relayChat(await exchange(attempt), relayRequestOf(job, chat))
}

/** For a model that only streams: its stream is asked for, and collected. */
async function collect(
  job: Job<Relayable>,
  chat: WholeChat,
  attempt: Attempt,
): Promise<WholeAnswer> {
  const relay = relayRequestOf(job, chat)
  const stream = new ChatStream({ ...relay, wantsUsage: true, legacyFunctions: false })
  const body: JsonObject = { ...chat.body, stream: true }
  if (relay.options.streamUsage) body['stream_options'] = { include_usage: true }
  // A stream ends its deadline; the request's own may have further prompts to watch.
  const deadline = new Deadline({ totalMs: job.ports.timers.requestMs })
  const stop = () => deadline.cancel(reasonOf(chat.deadline.signal))
  chat.deadline.signal.addEventListener('abort', stop, { once: true })
  try {
    const opened = await UpstreamStream.open({ ...attempt, body, deadline }, stream)
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
