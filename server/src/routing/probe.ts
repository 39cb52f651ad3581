import { headersOf } from './attempt'
import type { Connection } from '../catalog/snapshot'
import type { Egress } from '../egress/egress'
import { scrub } from '../providers/upstream-error'
import { addressOf } from '../providers/line'
import type { Provider } from '../providers/provider'
import { isObject } from '../wire/json-body'

/** What a connection answered when it was asked for its models. */
export interface Probe {
  success: boolean
  message: string
  latencyMs: number
  models: string[]
}

const patienceMs = 10_000
const longestAnswer = 5 * 1024 * 1024
const mostModels = 5000

/** Asks a connection for its model list. Never throws: a failure is a result. */
export async function probe(
  egress: Egress,
  provider: Provider,
  connection: Connection,
): Promise<Probe> {
  const startedAt = performance.now()
  const result = (success: boolean, message: string, models: string[] = []): Probe => ({
    success,
    message,
    models,
    latencyMs: Math.round(performance.now() - startedAt),
  })
  try {
    const path = provider.options.paths.models ?? '/models'
    const url = `${addressOf({ provider, connection })}${path}`
    const response = await egress.send({
      url,
      method: 'GET',
      headers: headersOf({ provider, connection }, url),
      signal: AbortSignal.timeout(patienceMs),
      owner: connection.owner,
    })
    const text = await limitedText(response)
    if (!response.ok) {
      const words = scrub(text, connection.secret)
      return result(
        false,
        `${provider.name} answered with status ${response.status}. ${words}`.trim(),
      )
    }
    const models = modelNames(JSON.parse(text))
    return result(true, `${provider.name} answered with ${models.length} models.`, models)
  } catch (thrown) {
    const words = thrown instanceof Error ? thrown.message : 'unknown error'
    return result(false, `${provider.name} could not be asked: ${scrub(words, connection.secret)}.`)
  }
}

async function limitedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > longestAnswer) throw new Error('its list of models is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function modelNames(answer: unknown): string[] {
  const list = isObject(answer) ? (answer['data'] ?? answer['models']) : answer
  if (!Array.isArray(list)) throw new Error('its answer is no list of models')
  return list.flatMap(nameIn).slice(0, mostModels)
}

/** Google's models have a `name`, which is a path. */
function nameIn(item: unknown): string[] {
  const name = isObject(item) ? (item['id'] ?? item['name']) : undefined
  return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
}
