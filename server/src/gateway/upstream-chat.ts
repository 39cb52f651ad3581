import type { Job } from './job'
import { sourceOf, type Prepared } from './relay'
import { adapterOf } from '../providers/adapters'
import { ChatStream } from '../providers/openai/chat-stream'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import { outputLimitOf, toUpstreamChat } from '../providers/openai/request'
import { TranslatedStream } from '../providers/translated-stream'
import type { Source } from '../providers/upstream-error'
import type { Candidate } from '../routing/candidate'
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
export function prepareChat(job: Job<unknown>, candidate: Candidate, asked: AskedChat): Prepared {
  const { body, textField, outputLimit } = asked
  const source = sourceOf(job, candidate, textField)
  const { upstreamModel, capabilities } = job.model
  const adapter = adapterOf(candidate.provider)
  if (!adapter) {
    const { options } = candidate.provider
    return { source, body: toUpstreamChat(body, { upstreamModel, options }) }
  }
  const written = adapter.request(toPlainChat(body), {
    upstreamModel,
    maxTokens: outputLimitOf(body)?.limit ?? outputLimit(),
    capabilities: {
      reasoning: capabilities.reasoning,
      tools: capabilities.tools,
      vision: capabilities.vision,
      jsonSchema: capabilities.json_schema,
    },
  })
  return { source, ...written, framing: adapter.framing }
}

/** What reads a candidate's stream. */
export function chatStreamOf({ provider }: Candidate, request: RelayRequest): RelayedStream {
  const adapter = adapterOf(provider)
  return adapter
    ? new TranslatedStream(adapter.reader(request.source), request)
    : new ChatStream(request)
}
