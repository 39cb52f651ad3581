import type { Turn } from './job'
import { sourceOf, type Prepared } from './relay'
import type { Adapter, Target } from '../providers/adapter'
import { chatWayOf } from '../providers/chat-way'
import { ChatStream } from '../providers/openai/chat-stream'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import { outputLimitOf, toUpstreamChat } from '../providers/openai/request'
import { TranslatedStream } from '../providers/translated-stream'
import type { Source } from '../providers/upstream-error'
import type { Sent } from '../routing/attempt'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'

interface AskedChat {
  /** The chat request; for a legacy completion the one that stands in for it. */
  body: JsonObject
  textField: Source['textField']
  /** The output limit that the hold pays for where the body names none. */
  outputLimit: () => number
}

/** A chat request as one candidate takes it: relayed, or written by the adapter of its dialect. */
export function prepareChat(turn: Turn<unknown>, asked: AskedChat): Prepared {
  const { body, textField } = asked
  const { candidate } = turn
  const source = sourceOf(turn, textField)
  const { upstreamModel } = turn.model
  const { adapter, operation, url, deployment } = chatWayOf(candidate, upstreamModel, body)
  if (!adapter) {
    const { options } = candidate.provider
    const relayed = toUpstreamChat(body, { upstreamModel, options })
    if (deployment !== undefined) relayed['model'] = deployment
    return { source, operation, url, body: relayed }
  }
  const plain = toPlainChat(body)
  const target = targetOf(turn, asked)
  const write = (signatures: Target['signatures']): Sent => {
    const request = adapter.request(plain, { ...target, ...(signatures && { signatures }) })
    if (deployment !== undefined) request.body['model'] = deployment
    return { ...request, url, adapter }
  }
  const unsigned = adapter.refusesSignatures && (() => write('replaced'))
  return { source, operation, ...write(undefined), unsigned }
}

const targetOf = (
  { model: { capabilities, upstreamModel } }: Turn<unknown>,
  { body, outputLimit }: AskedChat,
): Target => ({
  upstreamModel,
  maxTokens: outputLimitOf(body)?.limit ?? outputLimit(),
  capabilities: {
    reasoning: capabilities.reasoning,
    tools: capabilities.tools,
    vision: capabilities.vision,
    jsonSchema: capabilities.json_schema,
  },
})

/** What reads the stream of a candidate that was asked through that adapter, or without one. */
export const chatStreamOf = (adapter: Adapter | undefined, request: RelayRequest): RelayedStream =>
  adapter ? new TranslatedStream(adapter.reader(request.source), request) : new ChatStream(request)
