import { answerBatches } from './answer-batches'
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
import { moderationFormatOf } from '../providers/moderation-formats'
import { unsupported } from '../providers/unsupported-fields'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../upstream/deadline'
import { addUsage } from '../wire/add-usage'
import { answerId } from '../wire/answer'
import { textsOf } from '../wire/embedding-request'
import { toList } from '../wire/json-body'
import {
  ModerationRequest,
  toModerationItems,
  type ModerationPart,
} from '../wire/moderation-request'
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
  volume: ({ candidate, request: { params } }) =>
    boundEmbedding(toModerationItems(params.input), {
      model: candidate.model,
      decodes: false,
      requests: toBatches(params.input, candidate).length,
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
      const batches = toBatches(attempt.request.params.input, attempt.candidate)
      const answers = await answerBatches(attempt, batches, (input) =>
        moderate(attempt, { input, deadline }),
      )
      const usage = answers.map((answer) => answer.usage).reduce(addUsage)
      return {
        kind: 'full',
        body: {
          id: answerId(attempt.request.call.requestId, 'modr'),
          ...answers[0]?.answer,
          results: answers.flatMap(({ answer }) => toList(answer['results'])),
          model: attempt.model.id,
          usage: toPromptUsageBlock(usage),
        },
        usage,
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
  const { input } = attempt.request.params
  const { maxSingleTexts } = moderationFormatOf(provider.options)
  if (maxSingleTexts !== undefined && toBatches(input, attempt.candidate).length > maxSingleTexts) {
    throw unsupported('input', `input: this model takes at most ${maxSingleTexts} texts a request.`)
  }
  toUpstream(attempt, input)
}

type Input = ModerationRequest['input']

/** Splits inputs into those of one upstream request. */
function toBatches(input: Input, { provider }: Pick<Candidate, 'provider'>): Input[] {
  const { maxSingleTexts } = moderationFormatOf(provider.options)
  if (maxSingleTexts === undefined || typeof input === 'string') return [input]
  const texts = input.flatMap((item: string | ModerationPart) =>
    typeof item === 'string' ? [item] : [],
  )
  return texts.length > 0 ? texts : [input]
}

function toUpstream({ body, candidate, model }: ModerationAttempt, input: Input) {
  const { options } = candidate.provider
  const target = { upstreamModel: model.upstreamModel, options }
  return moderationFormatOf(options).write({ body, input, target })
}

async function moderate(
  attempt: ModerationAttempt,
  { input, deadline }: { input: Input; deadline: Deadline },
) {
  const source = new AttemptSource(attempt, 'input')
  const inputs = toModerationItems(input).length
  const { options } = attempt.candidate.provider
  const { answer, usage } = await relayWhole(attempt, {
    request: { operation: 'moderations', ...toUpstream(attempt, input) },
    source,
    deadline,
    estimate: () => estimateOf(attempt, input),
    read: (body) => moderationFormatOf(options).read(body, { inputs, options }, source),
  })
  return { answer, usage: usage ?? estimateOf(attempt, input) }
}

/** Images of a model that are paid by the piece have no tokens. */
const estimateOf = ({ model }: ModerationAttempt, input: Input) =>
  estimateInputs(toModerationItems(input), {
    isPaidByImage: model.pricing?.image !== undefined,
  })
