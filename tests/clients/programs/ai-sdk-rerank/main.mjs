import { createCohere } from '@ai-sdk/cohere'
import { APICallError, rerank } from 'ai'

const { env } = process
const query = 'capital of France'
const documents = ['Berlin lies on the Spree', 'the capital of France is Paris', 'of all capitals']
const cohereOf = (apiKey) => createCohere({ baseURL: `${env.TOLLGATE_URL}/v2`, apiKey })
const ask = (model, { apiKey = env.TOLLGATE_KEY, ...fields } = {}) =>
  rerank({ model: cohereOf(apiKey).reranking(model), query, documents, maxRetries: 0, ...fields })

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** Ranks with the models of every format. */
async function rankAll(fields, places) {
  for (const model of JSON.parse(env.RERANK_MODELS)) {
    const { ranking, rerankedDocuments } = await ask(model, fields)
    const found = ranking.map(({ originalIndex }) => originalIndex).join()
    expect(found === places && ranking[0].score === 1, `${model}: ${JSON.stringify(ranking)}`)
    expect(rerankedDocuments[0] === documents[1], rerankedDocuments[0])
  }
}

/** The call must fail with this status, and with a message. */
async function fails(call, status) {
  const error = await call.catch((thrown) => thrown)
  expect(APICallError.isInstance(error), `it did not fail: ${JSON.stringify(error)}`)
  expect(error.statusCode === status, `status ${error.statusCode}, not ${status}`)
  expect(error.message !== '', 'no message')
}

const cases = {
  rank: () => rankAll({}, '1,2,0'),
  top: () => rankAll({ topN: 1 }, '1'),
  'error-401': () => fails(ask(JSON.parse(env.RERANK_MODELS)[0], { apiKey: 'sk-wrong' }), 401),
  'error-404': () => fails(ask(env.UNKNOWN_MODEL), 404),
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
