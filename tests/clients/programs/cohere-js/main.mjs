import { CohereClient, CohereClientV2, CohereError } from 'cohere-ai'

const { env } = process
const query = 'capital of France'
const documents = ['Berlin lies on the Spree', 'the capital of France is Paris', 'of all capitals']

// The SDK puts `/v1` or `/v2` behind the address.
const clientsOf = (token) =>
  [CohereClient, CohereClientV2].map(
    (Client) => new Client({ environment: env.TOLLGATE_URL, token, maxRetries: 0 }),
  )
const clients = clientsOf(env.TOLLGATE_KEY)

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** Ranks with the models of every format, and with both versions of the API. */
async function rankAll(fields, places) {
  for (const model of JSON.parse(env.RERANK_MODELS)) {
    for (const client of clients) {
      const { id, results } = await client.rerank({ model, query, documents, ...fields })
      const found = results.map(({ index }) => index).join()
      expect(found === places, `${model}: ${JSON.stringify(results)}`)
      expect(results[0].relevanceScore === 1, `${model}: ${JSON.stringify(results)}`)
      expect(id !== undefined, `${model}: no id`)
    }
  }
}

/** The call must fail with this status. */
async function fails(token, model, status) {
  for (const client of clientsOf(token)) {
    const error = await client.rerank({ model, query, documents }).catch((thrown) => thrown)
    expect(error instanceof CohereError, `it did not fail: ${JSON.stringify(error)}`)
    expect(error.statusCode === status, `status ${error.statusCode}, not ${status}`)
  }
}

const cases = {
  rank: () => rankAll({}, '1,2,0'),
  top: () => rankAll({ topN: 1 }, '1'),
  'error-401': () => fails('sk-wrong', JSON.parse(env.RERANK_MODELS)[0], 401),
  'error-404': () => fails(env.TOLLGATE_KEY, env.UNKNOWN_MODEL, 404),
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
