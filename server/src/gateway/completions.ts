import type { Endpoint, RunnableRequest, Reply, RequestAttempt } from './request'
import {
  identityOf,
  createJobDeadline,
  lostBy,
  openStream,
  promptUsage,
  Relay,
  TurnSource,
  type Prepared,
} from './relay'
import { streamOverChat, completeOverChat } from './completions-over-chat'
import { isServiceTierSent } from './upstream-chat'
import { estimatePromptTokens } from '../metering/estimate'
import { boundCompletion } from '../metering/volume'
import { adapterOf } from '../providers/adapters'
import { selectRelayRoute } from '../providers/chat-route'
import { readOutputLimit, toUpstreamCompletion } from '../providers/openai/request'
import { TextStream } from '../providers/openai/text-stream'
import { relayText } from '../providers/openai/whole-answer'
import { exchange } from '../upstream/exchange'
import type { Candidate } from '../routing/candidate'
import { CompletionRequest } from '../wire/completion-request'
import { readPromptTexts } from '../wire/text-over-chat'

/** `POST /v1/completions`: relayed where the provider has the endpoint, else sent to a chat model. */
export const completions: Endpoint<typeof CompletionRequest> = {
  schema: CompletionRequest,
  operation: 'completions',
  priced: 'completion',
  limitBytes: 8 * 1024 * 1024,
  kinds: ['completion', 'chat'],
  size: ({ prompt }, body) => ({
    textField: 'prompt',
    output: readOutputLimit(body),
    texts: () => readPromptTexts(prompt) ?? [],
    tokens: readPromptTexts(prompt) ? 0 : prompt.length,
  }),
  need: ({ prompt, n, best_of }, bytes) => {
    const texts = readPromptTexts(prompt)
    return {
      promptTokens: texts
        ? estimatePromptTokens(bytes, () => ({ texts, media: 0 }))
        : prompt.length,
      answers: (texts?.length ?? 1) * Math.max(n ?? 1, best_of ?? 1),
    }
  },
  volume: (turn) =>
    boundCompletion(turn.body, {
      model: turn.model,
      outputLimit: readOutputLimit(turn.body)?.limit,
      sendsServiceTier: () => isServiceTierSent(turn),
    }),
  run: (job) => {
    const { candidates, request } = job.checked
    const isNative = candidates.every((candidate) => servesCompletions(candidate))
    if (request.stream) {
      return Promise.resolve(isNative ? streamed(job) : streamOverChat(job))
    }
    return isNative ? whole(job) : completeOverChat(job)
  },
}

const servesCompletions = ({ model, provider }: Candidate) =>
  !adapterOf(provider) && (model.category === 'completion' || provider.options.legacyCompletions)

function streamed(job: RunnableRequest<CompletionRequest>): Reply {
  const identity = identityOf(job.checked, 'text_completion')
  const opening = openStream(job, {
    // An echo of the prompt is no output, though it looks like it.
    allowance: ({ checked, meter }) => (checked.request.echo ? undefined : meter.allowance(1)),
    prepare,
    relay: (turn, { source }) =>
      new TextStream(new Relay(turn, { source }, { identity, legacyFunctions: false })),
  })
  return { kind: 'stream', identity, opening }
}

function whole(job: RunnableRequest<CompletionRequest>): Promise<Reply> {
  const identity = identityOf(job.checked, 'text_completion')
  const deadline = createJobDeadline(job)
  return job.ask({
    deadline,
    attempt: (turn) => {
      const onLost = lostBy(turn, (bytes) => promptUsage(turn.body, bytes))
      const attempt = { turn, sent: prepare(turn), deadline, onLost }
      return exchange(attempt, (answer, { sent }): Reply => {
        const relay = new Relay(turn, sent, { identity, legacyFunctions: false })
        const provider = turn.candidate.provider.key
        return { kind: 'whole', ...relayText(answer, relay), provider }
      })
    },
  })
}

function prepare(turn: RequestAttempt<CompletionRequest>): Prepared {
  const { candidate, model } = turn
  const { options } = candidate.provider
  const { upstreamModel } = model
  const { url, deployment } = selectRelayRoute(candidate, upstreamModel, 'completions')
  const body = toUpstreamCompletion(turn.body, { upstreamModel, options })
  if (deployment !== undefined) body['model'] = deployment
  return { operation: 'completions', source: new TurnSource(turn, 'prompt'), url, body }
}
