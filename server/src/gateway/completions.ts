import { AnswerFacts, AttemptSource, identityOf } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { addProviderField, isServiceTierSent } from './choose-protocol'
import { completeOverChat, streamOverChat } from './completions-over-chat'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import { identified } from './identify-request'
import { openStream } from './open-stream'
import type { Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { assertEnoughTime, limitAnswer } from './timeouts'
import { promptUsage, toLossReport } from './unanswered-use'
import { estimatePromptTokens } from '../metering/estimate'
import { pickLongTexts } from '../metering/long-texts'
import { boundCompletion } from '../metering/volume'
import { adapterOf } from '../providers/adapters'
import { selectRelayAddress } from '../providers/chat-route'
import { readOutputLimit, toUpstreamCompletion } from '../providers/openai/request'
import { TextStream } from '../providers/openai/text-stream'
import { relayText } from '../providers/openai/whole-answer'
import type { Candidate } from '../routing/candidate'
import { exchange } from '../upstream/exchange'
import { RelayProtocol } from '../upstream/protocol/relay'
import { CompletionRequest } from '../wire/completion-request'
import { readPromptTexts } from '../wire/text-over-chat'

/** `POST /v1/completions`: relayed where the provider has the endpoint, else sent to a chat model. */
export const completions: Endpoint<typeof CompletionRequest> = {
  schema: CompletionRequest,
  operation: 'completions',
  priceKind: 'completion',
  maxBytes: 8 * 1024 * 1024,
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
  volume: (attempt) =>
    boundCompletion(attempt.body, {
      model: attempt.model,
      outputLimit: readOutputLimit(attempt.body)?.limit,
      sendsServiceTier: () => isServiceTierSent(attempt),
    }),
  texts: ({ request }) => pickLongTexts(readPromptTexts(request.params.prompt) ?? []),
  run: (failover) => {
    const { candidates, params } = failover.request
    const isNative = candidates.every((candidate) => servesCompletions(candidate))
    if (params.stream) {
      return Promise.resolve(isNative ? streamText(failover) : streamOverChat(failover))
    }
    return isNative ? completeText(failover) : completeOverChat(failover)
  },
}

const servesCompletions = ({ model, provider }: Candidate) =>
  !adapterOf(provider) && (model.category === 'completion' || provider.options.legacyCompletions)

function streamText(failover: EndpointRun<CompletionRequest>): Reply {
  const identity = identityOf(failover.request, 'text_completion')
  const opening = openStream(failover, {
    // An echo of the prompt is no output, though it looks like it.
    allowance: ({ request, meter }) => (request.params.echo ? undefined : meter.allowance(1)),
    protocol: relayCompletion,
    relay: (attempt, protocol) =>
      new TextStream(new AnswerFacts(attempt, protocol, { identity, legacyFunctions: false })),
  })
  return { kind: 'stream', identity, opening }
}

function completeText(failover: EndpointRun<CompletionRequest>): Promise<Reply> {
  const identity = identityOf(failover.request, 'text_completion')
  const deadline = createFailoverDeadline(failover)
  return failover.run({
    deadline,
    attempt: (attempt) => {
      const { candidate, request } = attempt
      const protocol = relayCompletion(attempt)
      assertEnoughTime(attempt, 'whole')
      limitAnswer(deadline, attempt)
      const onLost = toLossReport(attempt, (bytes) => promptUsage(attempt.body, bytes))
      const read = (answer: unknown): Reply => {
        const facts = new AnswerFacts(attempt, protocol, { identity, legacyFunctions: false })
        const provider = candidate.provider.key
        const { omitted } = protocol
        return { kind: 'full', ...relayText(answer, facts), provider, omittedFields: omitted }
      }
      return exchange({ candidate, request, protocol, deadline, onLost }, { read })
    },
  })
}

function relayCompletion(attempt: RequestAttempt<CompletionRequest>): RelayProtocol {
  const { candidate, model } = attempt
  const { options } = candidate.provider
  const { upstreamModel } = model
  const { url, deployment } = selectRelayAddress(candidate, upstreamModel, 'completions')
  const body = toUpstreamCompletion(attempt.body, { upstreamModel, options })
  if (deployment !== undefined) body['model'] = deployment
  addProviderField(body, attempt)
  const source = new AttemptSource(attempt, 'prompt')
  return new RelayProtocol({
    request: identified({ operation: 'completions', url, body }, 'completions', attempt),
    source,
    omitted: reportOmissions(attempt),
  })
}
