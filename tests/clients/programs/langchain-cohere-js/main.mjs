import { CohereRerank } from '@langchain/cohere'
import { Document } from '@langchain/core/documents'
import { CohereClient } from 'cohere-ai'

const { env } = process
const query = 'capital of France'
const texts = ['Berlin lies on the Spree', 'the capital of France is Paris', 'of all capitals']
const documents = () => texts.map((pageContent) => new Document({ pageContent }))

// A client of Cohere's SDK is how it gets another address.
const rerankerOf = (model, { token = env.TOLLGATE_KEY, ...fields } = {}) => {
  const client = new CohereClient({ environment: env.TOLLGATE_URL, token, maxRetries: 0 })
  return new CohereRerank({ client, model, ...fields })
}

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** Ranks with the models of every format. */
async function rankAll(fields, places) {
  for (const model of JSON.parse(env.RERANK_MODELS)) {
    const reranker = rerankerOf(model, fields)
    const ranking = await reranker.rerank(documents(), query)
    const found = ranking.map(({ index }) => index).join()
    expect(found === places && ranking[0].relevanceScore === 1, JSON.stringify(ranking))
    const [best, ...others] = await reranker.compressDocuments(documents(), query)
    expect(best.pageContent === texts[1] && best.metadata.relevanceScore === 1, best.pageContent)
    expect(others.length === ranking.length - 1, `${others.length} others`)
  }
}

/** The call must fail with this status. */
async function fails(reranker, status) {
  const error = await reranker.rerank(documents(), query).catch((thrown) => thrown)
  expect(error.statusCode === status, `status ${error.statusCode}, not ${status}`)
}

const cases = {
  rank: () => rankAll({}, '1,2,0'),
  top: () => rankAll({ topN: 1 }, '1'),
  'error-401': () => fails(rerankerOf(JSON.parse(env.RERANK_MODELS)[0], { token: 'sk-no' }), 401),
  'error-404': () => fails(rerankerOf(env.UNKNOWN_MODEL), 404),
}

for (const [name, run] of Object.entries(cases)) {
  let result
  try {
    await run()
    result = { case: name, ok: true, detail: '' }
  } catch (error) {
    result = { case: name, ok: false, detail: String(error) }
  }
  console.log(JSON.stringify(result))
}
