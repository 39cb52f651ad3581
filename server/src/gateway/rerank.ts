import { AttemptSource } from './answer-facts'
import type { PricedAttempt, RequestAttempt, ValidatedRequest } from './attempt'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import type { Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { relayWhole, translateWhole } from './whole-exchange'
import { servesKind } from '../catalog/served-kinds'
import { roughTokens } from '../metering/estimate'
import { pickLongTexts } from '../metering/long-texts'
import {
  boundRanking,
  estimateRanking,
  usualTokensPerDocument,
  type Ranking,
} from '../metering/ranking-volume'
import {
  omittedFromRerank,
  readRerank,
  rerankFormatOf,
  toUpstreamRerank,
  type RerankAnswer,
} from '../providers/rerank-formats'
import { unsupported } from '../providers/unsupported-fields'
import type { Deadline } from '../upstream/deadline'
import { answerId } from '../wire/answer'
import { RerankRequest, textOfDocument, toReturnedDocument } from '../wire/rerank-request'
import { promptTokens, toPromptUsageBlock, type Usage } from '../wire/usage'

type RerankAttempt = RequestAttempt<RerankRequest>

/** `POST /v1/rerank`. */
export const rerank: Endpoint<typeof RerankRequest> = {
  schema: RerankRequest,
  operation: 'rerank',
  priceKind: 'rerank',
  maxBytes: 8 * 1024 * 1024,
  kinds: ['rerank'],
  // The limit of a model is per document, and enforced by its provider.
  size: () => ({ textField: 'documents', output: undefined, texts: () => [], tokens: 0 }),
  need: (_params, bytes) => ({ promptTokens: roughTokens(bytes), answers: 0 }),
  ranking({ query, documents }) {
    const texts = documents.map(textOfDocument)
    const usage = estimateRanking({ query, documents: texts, maxTokensPerDocument: undefined })
    return { inputTokens: promptTokens(usage), searchUnits: usage.searches }
  },
  volume: (attempt) => boundRanking(rankingOf(attempt)),
  // Of documents that are cut, the provider reads the first part only: counting all of it bounds nothing closer.
  texts: (attempt) => {
    const { documents, maxTokensPerDocument } = rankingOf(attempt)
    return maxTokensPerDocument === undefined ? pickLongTexts(documents) : []
  },
  run,
}

function rankingOf({
  candidate,
  request,
}: Pick<PricedAttempt<ValidatedRequest<RerankRequest>>, 'candidate' | 'request'>): Ranking {
  const { query, documents, max_tokens_per_doc: maxTokens } = request.params
  const { cutsDocuments, tokensPerPart } = rerankFormatOf(candidate.provider)
  return {
    query,
    documents: documents.map(textOfDocument),
    maxTokensPerDocument: cutsDocuments ? (maxTokens ?? usualTokensPerDocument) : undefined,
    ...(tokensPerPart !== undefined && { tokensPerPart }),
  }
}

async function run(failover: EndpointRun<RerankRequest>): Promise<Reply> {
  const deadline = createFailoverDeadline(failover)
  return await failover.run({
    deadline,
    before: async ({ candidate: { provider } }) => {
      if (servesKind(provider, 'rerank')) return
      throw unsupported('model', `model: ${provider.name} does not serve reranking.`)
    },
    attempt: async (attempt) => {
      const answer = await rank(attempt, deadline)
      const usage = usageOf(answer, attempt)
      const { provider } = attempt.candidate
      const omittedFields = omittedFromRerank(attempt.body, provider)
      return {
        kind: 'full',
        body: toBody(answer, usage, attempt),
        usage,
        provider: provider.key,
        omittedFields: reportOmissions(attempt, omittedFields),
      }
    },
  })
}

function rank(attempt: RerankAttempt, deadline: Deadline): Promise<RerankAnswer> {
  const { params } = attempt.request
  const { candidate, model } = attempt
  const { upstreamModel } = model
  const source = new AttemptSource(attempt, 'documents')
  const format = rerankFormatOf(candidate.provider)
  const body = toUpstreamRerank(attempt.body, params, { upstreamModel, line: candidate })
  const whole = {
    request: { operation: 'rerank', path: format.path, url: format.url?.(candidate), body },
    source,
    deadline,
    estimate: () => estimateRanking(rankingOf(attempt)),
    read: (answer: unknown) => readRerank(answer, { request: params, format }, source),
  } as const
  const { toError } = format
  return toError ? translateWhole(attempt, whole, { toError }) : relayWhole(attempt, whole)
}

/** The provider's counts; an estimate in place of those that the price charges and that it does not report. */
function usageOf({ usage, hasSearchUnits }: RerankAnswer, attempt: RerankAttempt): Usage {
  const { pricing } = attempt.model
  const isMissingUnits = pricing?.search !== undefined && !hasSearchUnits
  const isMissingTokens = pricing !== null && pricing.input > 0n && !hasTokens(usage)
  if (usage && !isMissingUnits && !isMissingTokens) return usage
  const estimate = estimateRanking(rankingOf(attempt))
  if (!usage) return estimate
  return {
    ...usage,
    ...(isMissingUnits && { searches: estimate.searches }),
    ...(isMissingTokens && { input: estimate.input }),
    estimated: true,
  }
}

const hasTokens = (usage: Usage | undefined) => usage !== undefined && promptTokens(usage) > 0

/** The answer in the form that clients of Cohere and of Jina read alike. */
function toBody({ id, scores }: RerankAnswer, usage: Usage, attempt: RerankAttempt) {
  const { call, params } = attempt.request
  const { documents, return_documents: returnsDocuments } = params
  const results = scores.map(({ index, score }) => {
    const document = returnsDocuments ? documents[index] : undefined
    return {
      index,
      relevance_score: score,
      ...(document !== undefined && { document: toReturnedDocument(document) }),
    }
  })
  const tokens = promptTokens(usage)
  const units = {
    ...(usage.searches > 0 && { search_units: usage.searches }),
    ...(tokens > 0 && { input_tokens: tokens }),
  }
  return {
    id: id ?? answerId(call.requestId, 'rerank'),
    model: attempt.model.id,
    results,
    usage: toPromptUsageBlock(usage),
    meta: { api_version: { version: '2' }, billed_units: units },
  }
}
