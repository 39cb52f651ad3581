import { errorBody } from './behaviours/statuses'
import { isJson, type Behaviour, type Call, type Json } from './call'
import { countTokens } from './tokens'

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** The part of the query's words that a text has. */
function scoreOf(text: string, query: string): number {
  const words = query.split(/\s+/)
  const inText = new Set(text.split(/\s+/))
  return words.filter((word) => inText.has(word)).length / words.length
}

interface Scored {
  index: number
  score: number
}

/** All texts, the best first, as real providers answer. */
function rank({ received }: Call): Scored[] {
  const { query, documents, texts } = received.body
  return textsOf(documents ?? texts)
    .map((text, index) => ({ index, score: scoreOf(text, String(query)) }))
    .toSorted((one, other) => other.score - one.score)
}

/** Tokens as rerankers count them: the query with each document. */
function tokensOf({ received }: Call): number {
  const { query, documents } = received.body
  const ofQuery = countTokens(String(query))
  return textsOf(documents).reduce((sum, text) => sum + ofQuery + countTokens(text), 0)
}

const toResult = ({ index, score }: Scored): Json => ({ index, relevance_score: score })

async function answer(call: Call, body: unknown): Promise<void> {
  call.attempt.answered = true
  await call.reply.json(200, body)
  call.attempt.complete = true
}

const first = (ranking: Scored[], count: unknown): Scored[] =>
  ranking.slice(0, typeof count === 'number' ? count : ranking.length)

/** https://docs.cohere.com/v2/reference/rerank: documents are divided at 500 tokens, a unit has 100 parts. */
const asCohere: Behaviour = async (call) => {
  const { query, documents, top_n: count, max_tokens_per_doc: max = 4096 } = call.received.body
  const unknown = Object.keys(call.received.body).find(
    (name) => !['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'].includes(name),
  )
  if (unknown !== undefined) {
    return call.reply.json(400, { id: 'x', message: `invalid request: unknown field ${unknown}` })
  }
  const part = 500 - countTokens(String(query))
  const parts = textsOf(documents).map((text) =>
    Math.max(1, Math.ceil(Math.min(countTokens(text), Number(max)) / part)),
  )
  const units = Math.ceil(parts.reduce((sum, one) => sum + one, 0) / 100)
  await answer(call, {
    id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    results: first(rank(call), count).map(toResult),
    meta: { api_version: { version: '2' }, billed_units: { search_units: units } },
  })
}

/** https://docs.voyageai.com/reference/reranker-api */
const asVoyage: Behaviour = async (call) => {
  const { top_k: count, model } = call.received.body
  if (call.received.body['top_n'] !== undefined) {
    return call.reply.json(400, { detail: "Argument 'top_n' is not supported by our API" })
  }
  const usage = { total_tokens: tokensOf(call) }
  const data = first(rank(call), count).map(toResult)
  await answer(call, { object: 'list', data, model, usage })
}

/** https://api.jina.ai/docs, and servers of its form. */
const asJina: Behaviour = async (call) => {
  const { top_n: count, model, documents, return_documents: returns } = call.received.body
  const texts = textsOf(documents)
  const results = first(rank(call), count).map((scored) => ({
    ...toResult(scored),
    ...(returns !== false && { document: { text: texts[scored.index] } }),
  }))
  const tokens = tokensOf(call)
  const usage = { total_tokens: tokens, prompt_tokens: tokens }
  await answer(call, { model, object: 'list', usage, results })
}

/** https://huggingface.github.io/text-embeddings-inference: a list alone, in no order. */
const asTei: Behaviour = async (call) => {
  if (!Array.isArray(call.received.body['texts'])) {
    return call.reply.json(422, errorBody({ type: 'validation', code: null, message: 'no texts' }))
  }
  await answer(
    call,
    rank(call).toSorted((one, other) => one.index - other.index),
  )
}

const withoutUsage: Behaviour = (call) =>
  answer(call, { results: rank(call).map(toResult).filter(isJson) })

/** Behaviours only rerankings have. */
export const rankings: Record<string, Behaviour> = {
  ok: asJina,
  'rank-voyage': asVoyage,
  'rank-cohere': asCohere,
  'rank-tei': asTei,
  'rank-uncounted': withoutUsage,
  'rank-fewer': (call) => answer(call, { results: rank(call).slice(1).map(toResult) }),
  'rank-others': (call) => answer(call, { results: [{ index: 99, relevance_score: 1 }] }),
}
