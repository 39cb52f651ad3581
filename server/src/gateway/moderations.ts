import { AttemptSource } from './answer-facts'
import type { RequestAttempt } from './attempt'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import type { Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { relayWhole } from './whole-exchange'
import { servesKind } from '../catalog/served-kinds'
import { estimateInputs, estimateInputTokens } from '../metering/estimate'
import { pickLongTexts } from '../metering/long-texts'
import { boundEmbedding } from '../metering/volume'
import { readModeration, toUpstreamModeration } from '../providers/openai/moderations'
import { unsupported } from '../providers/unsupported-fields'
import type { Deadline } from '../upstream/deadline'
import { textsOf } from '../wire/embedding-request'
import { ModerationRequest, toModerationItems } from '../wire/moderation-request'
import { toPromptUsageBlock } from '../wire/usage'

type ModerationAttempt = RequestAttempt<ModerationRequest>

/** `POST /v1/moderations`. */
export const moderations: Endpoint<typeof ModerationRequest> = {
  schema: ModerationRequest,
  operation: 'moderations',
  priceKind: 'moderation',
  maxBytes: 8 * 1024 * 1024,
  kinds: ['moderation'],
  defaultKind: 'moderation',
  // The limit of a model is per input, and enforced by its provider.
  size: () => ({ textField: 'input', output: undefined, texts: () => [], tokens: 0 }),
  need: ({ input }, bytes) => ({
    promptTokens: estimateInputTokens(bytes, () => toModerationItems(input)),
    answers: 0,
  }),
  volume: ({ candidate, request }) =>
    boundEmbedding(toModerationItems(request.params.input), {
      model: candidate.model,
      decodes: false,
      requests: 1,
    }),
  texts: ({ request }) => pickLongTexts(textsOf(toModerationItems(request.params.input))),
  run,
}

async function run(failover: EndpointRun<ModerationRequest>): Promise<Reply> {
  const deadline = createFailoverDeadline(failover)
  return await failover.run({
    deadline,
    before: async (attempt) => checkModeration(attempt),
    attempt: async (attempt) => {
      const { answer, usage } = await moderate(attempt, deadline)
      const countedUsage = usage ?? estimateOf(attempt)
      return {
        kind: 'full',
        body: { ...answer, model: attempt.model.id, usage: toPromptUsageBlock(countedUsage) },
        usage: countedUsage,
        provider: attempt.candidate.provider.key,
        omittedFields: reportOmissions(attempt),
      }
    },
  })
}

/** Throws `invalid_request` where a candidate does not take the request. */
function checkModeration(attempt: ModerationAttempt): void {
  const { provider } = attempt.candidate
  if (!servesKind(provider, 'moderation')) {
    throw unsupported('model', `model: ${provider.name} does not serve moderations.`)
  }
  toUpstreamBody(attempt)
}

const toUpstreamBody = ({ body, candidate, model, request }: ModerationAttempt) =>
  toUpstreamModeration(body, request.params.input, {
    upstreamModel: model.upstreamModel,
    options: candidate.provider.options,
  })

function moderate(attempt: ModerationAttempt, deadline: Deadline) {
  const source = new AttemptSource(attempt, 'input')
  const inputs = toModerationItems(attempt.request.params.input).length
  return relayWhole(attempt, {
    request: { operation: 'moderations', body: toUpstreamBody(attempt) },
    source,
    deadline,
    estimate: () => estimateOf(attempt),
    read: (answer) => readModeration(answer, inputs, source),
  })
}

/** Images of a model that are paid by the piece have no tokens. */
const estimateOf = ({ model, request }: ModerationAttempt) =>
  estimateInputs(toModerationItems(request.params.input), {
    isPaidByImage: model.pricing?.image !== undefined,
  })
