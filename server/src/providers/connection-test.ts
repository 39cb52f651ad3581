import { toAzureTestCall } from './azure/address'
import { listUrlOf } from './bedrock/address'
import { addressOf, type ProviderRoute } from './provider-route'
import { isObject } from '../wire/json-body'

/** The answer to a test: the status, and the body where it is JSON. */
interface TestAnswer {
  status: number
  body: unknown
}

interface Verdict {
  /** A text for the owner of the connection. */
  message: string
  /** The models that the connection can call, as far as the provider lists them. */
  models: string[]
}

/** One request that shows whether a connection works, and costs nothing. */
export interface ConnectionTest {
  method: 'GET' | 'POST'
  url: string
  /** Empty for a GET. */
  body: string
  /** Returns the verdict of a good answer; undefined for one that is none. */
  judge: (answer: TestAnswer) => Verdict | undefined
}

const maxModels = 5000

/** Creates the test of a connection: by its list of models, where its provider has one. */
export function createConnectionTest(line: ProviderRoute): ConnectionTest {
  const { dialect, options } = line.provider
  if (dialect === 'bedrock') return bedrockTest(line)
  if (dialect === 'vertex') return vertexTest(line)
  if (dialect === 'azure') return azureTest(line)
  if (options.speech.form === 'deepgram') return keyTest(line, '/projects')
  if (options.images.form === 'bfl') return keyTest(line, '/credits')
  if (options.images.form === 'stability') return keyTest(line, '/v1/user/balance')
  return listTest(line, `${addressOf(line)}${options.paths.models ?? '/models'}`)
}

const listTest = (
  { provider }: ProviderRoute,
  url: string,
  namesIn: (body: unknown) => string[] | undefined = modelNames,
): ConnectionTest => ({
  method: 'GET',
  url,
  body: '',
  judge({ status, body }) {
    const names = status === 200 ? namesIn(body) : undefined
    if (names === undefined) return undefined
    const models = names.slice(0, maxModels)
    return { message: `${provider.name} lists ${models.length} models.`, models }
  },
})

function modelNames(answer: unknown): string[] | undefined {
  const list = isObject(answer) ? (answer['data'] ?? answer['models']) : answer
  return Array.isArray(list) ? list.flatMap(nameIn) : undefined
}

/** Google's models have a `name`, which is a path, ElevenLabs' a `model_id`. */
function nameIn(item: unknown): string[] {
  const name = isObject(item) ? (item['id'] ?? item['model_id'] ?? item['name']) : undefined
  return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
}

/**
 * Deepgram's list of models is the same for every key, and for none: that of its projects needs one. Black Forest Labs
 * and Stability have no list, but tell the credits of a key: https://docs.bfl.ai/api-reference/get-the-users-credits
 * https://platform.stability.ai/docs/api-reference
 */
const keyTest = ({ provider, connection }: ProviderRoute, path: string): ConnectionTest => ({
  method: 'GET',
  url: `${addressOf({ provider, connection })}${path}`,
  body: '',
  judge: ({ status, body }) =>
    status === 200 && isObject(body)
      ? { message: `${provider.name} accepted the API key; it lists no models.`, models: [] }
      : undefined,
})

const messageOf = (body: unknown): string => {
  const error = isObject(body) ? (body['error'] ?? body) : undefined
  const reason = isObject(error) ? (error['message'] ?? error['Message']) : undefined
  return typeof reason === 'string' ? reason : ''
}

/**
 * The list is at another host than the models, which only a region's own address reveals. Elsewhere the
 * test calls a model that does not exist: AWS rejects an unknown key before it looks for the model.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 */
function bedrockTest(line: ProviderRoute): ConnectionTest {
  const { name } = line.provider
  const listUrl = listUrlOf(addressOf(line))
  if (listUrl !== undefined) {
    const test = listTest(line, listUrl, foundationModels)
    return {
      ...test,
      judge(answer) {
        const isAccepted = answer.status === 403 && mayNotList.test(messageOf(answer.body))
        return isAccepted
          ? { message: `${name} accepted the API key, which may not list models.`, models: [] }
          : test.judge(answer)
      },
    }
  }
  return {
    method: 'POST',
    url: `${addressOf(line)}/model/none.such-v1%3A0/converse`,
    body: JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'a' }] }] }),
    judge({ status, body }) {
      const reason = messageOf(body)
      const isAccepted =
        (status === 400 && /model/i.test(reason)) || (status === 403 && mayNotInvoke.test(reason))
      if (!isAccepted) return undefined
      return {
        message: `${name} accepted the API key; it lists no models at this URL.`,
        models: [],
      }
    },
  }
}

/** AWS answers so to keys that it knows: one that it does not know fails before. */
const mayNotList = /not authorized to perform: bedrock:ListFoundationModels/
const mayNotInvoke = /not authorized to perform: bedrock:InvokeModel/

/** Returns the models that can be called by their own name; others want an inference profile. */
function foundationModels(body: unknown): string[] | undefined {
  const list = isObject(body) ? body['modelSummaries'] : undefined
  if (!Array.isArray(list)) return undefined
  return list.flatMap((model) => {
    if (!isObject(model) || typeof model['modelId'] !== 'string') return []
    const ways = model['inferenceTypesSupported']
    return Array.isArray(ways) && !ways.includes('ON_DEMAND') ? [] : [model['modelId']]
  })
}

/**
 * Vertex AI lists all of Google's models, not those that a project may call: instead the test counts the
 * tokens of a word, which is free. Only a valid credential gets the answer that the model is missing.
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
 */
const vertexTest = (line: ProviderRoute): ConnectionTest => ({
  method: 'POST',
  url: `${addressOf(line)}/publishers/google/models/gemini-2.5-flash:countTokens`,
  body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'a' }] }] }),
  judge({ status, body }) {
    const isCounted = status === 200 && isObject(body) && typeof body['totalTokens'] === 'number'
    const isMissing = status === 404 && /publisher model/i.test(messageOf(body))
    if (!isCounted && !isMissing) return undefined
    return {
      message: `${line.provider.name} accepted the API key; it lists no models.`,
      models: [],
    }
  },
})

/**
 * The dated surface lists deployable models, and no deployments: the connection's options name those.
 * Foundry has no list; it describes a model, or demands the name of one.
 * @see https://learn.microsoft.com/rest/api/azureopenai/models/list
 */
function azureTest(line: ProviderRoute): ConnectionTest {
  const { api_version: apiVersion, deployments } = line.connection.options
  const { surface, url } = toAzureTestCall({ baseUrl: addressOf(line), apiVersion })
  const test = listTest(line, url)
  if (surface === 'v1') return test
  const models = Object.keys(deployments ?? {})
  const message =
    `${line.provider.name} accepted the API key. It lists no deployments; ` +
    `the connection's options name ${models.length}.`
  const isGood = ({ status, body }: TestAnswer): boolean =>
    surface === 'classic'
      ? test.judge({ status, body }) !== undefined
      : isObject(body) && [200, 400, 404].includes(status)
  return { ...test, judge: (answer) => (isGood(answer) ? { message, models } : undefined) }
}
