import { requireModel } from './models'
import { SandboxRerankRequest, parse } from './request'
import { countPromptTokens } from './text'

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** The part of the query's words that a document has. */
function scoreOf(document: string, queryWords: ReadonlySet<string>): number {
  if (queryWords.size === 0) return 0
  const documentWords = wordsOf(document)
  const shared = [...queryWords].filter((word) => documentWords.has(word))
  return shared.length / queryWords.size
}

/** `POST /rerank`, in Jina's form. Throws `Refusal`. */
export function answerRerank(body: unknown): Response {
  const { model, query, documents, top_n: topN } = parse(SandboxRerankRequest, body)
  requireModel(model, 'rerank')
  const queryWords = wordsOf(query)
  const results = documents
    .map((document, index) => ({ index, relevance_score: scoreOf(document, queryWords) }))
    .toSorted((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, topN ?? documents.length)
  const queryTokens = countPromptTokens(query)
  const tokens = documents.reduce((sum, text) => sum + queryTokens + countPromptTokens(text), 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return Response.json({ model, object: 'list', results, usage })
}
